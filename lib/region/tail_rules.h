#pragma once
// TailRules: how the end of a split is handled, from the schedule and the extent of what is split.

#include <map>
#include <string>
#include <vector>

#include "ir/int32.h"
#include "region/demand.h"
#include "region/interval.h"
#include "region/tail_plan.h"

namespace Pipe::region {

/// a / b, rounded up: how many parts of size b a dimension of extent a has.
inline Expr ceil_div(const Expr &a, const Expr &b) {
    return ir::div(ir::add(a, ir::sub(b, ir::int32(1))), b);
}

/// `ranges`, where it is an argument, are those of the nest's loops and intermediate variables.
class TailRules {
  public:
    /// `any_size`: Auto tails are guarded instead of shifted inwards, so that no extent is too small.
    TailRules(const graph::Graph &graph, bool any_size) : graph_(graph), any_size_(any_size) {}

    /// The strategy that the split uses if its factor does not divide the extent.
    TailStrategy strategy(const StageNest &nest, const schedules::Transform &split) const;
    Tail tail_of(const StageNest &nest, const schedules::Transform &split,
                 const Expr &extent) const;
    /// Whether the inner loop of a guarded split (the transform of that number) ends early.
    bool shrinks(const StageNest &nest, size_t split) const;
    /// The kind of a loop: the schedule's; but code for any size has no tails that make the extent of a
    /// vectorized or unrolled loop constant, so that it may have to be serial.
    LoopKind kind(const StageLoop &loop, const Range &range) const;
    /// The tails as the loops have them: None where the inner loop ends early.
    StageTails stage_tails(const StageNest &nest, const std::map<std::string, Range> &ranges) const;

    /// The number of values that each variable takes when all loops run, as the loads, or the stores, of
    /// the stage see it.
    std::map<std::string, Expr> spans(const StageNest &nest,
                                      const std::map<std::string, Range> &ranges, Use use) const;
    std::vector<Expr> most_beyond(const StageNest &nest, Use use) const;
    bool stores_beyond_reads(const StageNest &nest) const;
    bool ends_beyond(const StageNest &nest, size_t dim) const;

  private:
    std::string reason_of(const StageNest &nest, const schedules::Transform &split,
                          Tail tail) const;

    const graph::Graph &graph_;
    bool any_size_;
};

/// Step 2 of a plan: the tails of all stages whose ranges are known.
TailPlan plan_tails(const LoopTree &tree, const Demand &demand, const TailRules &rules);

}  // namespace Pipe::region
