#pragma once
// NumericDemand: the demand of a schedule at numbers.

#include <map>
#include <span>
#include <string>
#include <vector>

#include "poly/range_program.h"
#include "region/plan.h"

namespace Pipe::region {

/// Answers which box of each stage is computed, and stored, in one iteration of a loop: for given sizes, Params
/// and values of the loops around. Compiled once per plan; a query allocates nothing, and takes microseconds
/// for a hundred stages.
///
///     NumericDemand demand(plan);
///     demand.set("out.min.0", 0), demand.set("out.extent.0", 1920); ...
///     demand.set("out.s0.yo", 3), demand.set("out.s0.xo", 7);
///     demand.evaluate("out.s0.xo");                                // in the loops yo and xo
///     for (const poly::Range &dimension : demand.computed(blur, 0)) ...
///
/// A loop has the value that was set if it is the loop of the level or one around it. All others run through all
/// their iterations, and a box that differs between these is given as the hull of all. It is exact where all
/// loops that it depends on have one value; else it may be too large, and never too small. What depends on data,
/// on floats, on intrinsics (but choices and shifts by constants) or on anything that was not set counts as
/// unknown: it is unbounded, or as large as a clamp lets it be. A box whose loops do not run is empty in at
/// least one dimension.
class NumericDemand {
  public:
    /// The plan need not outlive this object.
    explicit NumericDemand(const RegionPlan &plan);

    /// The number of a size ("out.extent.0"), a Param or a loop ("out.s0.xo"), for set(); -1 if nothing depends
    /// on it.
    int variable(const std::string &name) const;
    void set(int variable, int64_t value);
    void set(const std::string &name, int64_t value);
    /// The number of a level, for evaluate().
    int level(const Level &level) const { return levels_.at(level); }

    /// What follows is then that of one iteration of the level.
    void evaluate(int level);
    void evaluate(const Level &level) { evaluate(this->level(level)); }

    /// The part of the stage's domain (StageDemand::domain) over which its loops run, per pure variable.
    std::span<const poly::Range> computed(FuncId func, int stage) const {
        return box(stages_[static_cast<size_t>(func)][static_cast<size_t>(stage)]);
    }
    /// What readers need of the Func at a time: more than its last stage computes, if its window slides.
    std::span<const poly::Range> needed(FuncId func) const {
        return box(needed_[static_cast<size_t>(func)]);
    }
    /// The region that is stored (FuncStorage::region); empty for outputs.
    std::span<const poly::Range> stored(FuncId func) const {
        return box(stored_[static_cast<size_t>(func)]);
    }
    /// Of an input, by its position in Graph::images: what the whole pipeline reads.
    std::span<const poly::Range> image(size_t image) const { return box(images_[image]); }
    /// The values of a loop.
    const poly::Range &loop(int level) const;

    /// Whether a part of the regions counts as unknown whatever is set.
    bool has_unknown() const { return program_.has_unknown(); }
    /// The number of operations of an evaluation.
    size_t steps() const { return program_.steps(); }

  private:
    using Slot = poly::RangeProgram::Slot;
    /// Of an interval in one dimension. `own`: the value of the stage's variable; -1: it has none.
    struct Ends {
        Slot min, max, own = -1;
    };
    /// Dimensions begin .. end - 1 of all boxes.
    struct Part {
        size_t begin = 0, end = 0;
    };
    struct Loop {
        Slot given, values;
        poly::Range value;
    };

    void add_loops(const RegionPlan &plan, const StageNest &nest);
    void define_variables(const RegionPlan &plan, const StageNest &nest);
    void define_executed(const RegionPlan &plan, const StageNest &nest, const Level &level);
    bool end_split(const RegionPlan &plan, const StageNest &nest, const std::string &name);
    Slot within(Slot slot, const Range &range);
    Part add(const Box &box);
    void add_boxes(const RegionPlan &plan, const graph::FuncNode &func);
    std::span<const poly::Range> box(const Part &part) const {
        return std::span(boxes_).subspan(part.begin, part.end - part.begin);
    }

    poly::RangeProgram program_;
    std::map<Level, int> levels_;  // the root: 0; loop i: 1 + i
    std::vector<Loop> loops_;
    std::vector<std::vector<int>> paths_;  // per level: the loops that have one value
    std::vector<Ends> ends_;
    std::vector<poly::Range> boxes_;
    std::vector<std::vector<Part>> stages_;  // by Func
    std::vector<Part> needed_, stored_, images_;
    std::vector<std::pair<Part, Slot>> conditional_;  // computed only where that is not 0
};

}  // namespace Pipe::region
