#pragma once
// StoragePlanner: what is allocated, once it is known what is stored.

#include <vector>

#include "region/demand.h"
#include "region/loop_bounds.h"
#include "region/storage_plan.h"
#include "region/tail_rules.h"

namespace Pipe::region {

/// All arguments must outlive the planner. Throws CompileError if hoist_storage, ring_buffer or
/// bound_storage cannot be followed.
class StoragePlanner {
  public:
    StoragePlanner(const LoopTree &tree, const Demand &demand, const TailRules &rules,
                   const LetTable &lets)
        : tree_(tree), graph_(tree.graph()), demand_(demand), rules_(rules), lets_(lets),
          bounds_(
              tree, lets, [this](const Level &level) { return demand_.loop(level); },
              [this](const StageNest &nest) { return demand_.of(nest).ranges; }) {}
    StoragePlanner(const StoragePlanner &) = delete;

    /// From the region, the window and the folds of a Func: what is allocated, the copies of a ring buffer,
    /// and in which iterations the Func is computed.
    void complete(FuncId func, FuncStorage &storage) const;

  private:
    /// A loop whose iterations use the copies of a ring buffer in turn.
    struct RingLoop {
        Range range;
        Level
            outer;  ///< the outer loop of the same split, in whose last iteration this loop may end early
        Expr factor;  ///< the number of its iterations otherwise
        Expr both;    ///< the number of iterations of the two together
    };
    Expr ring_index(FuncId func) const;
    RingLoop ring_loop(FuncId func, const Level &level, const std::vector<Level> &levels) const;
    Expr extent_when_hoisted(FuncId func, const Expr &extent) const;
    std::vector<Range> allocation(FuncId func, const FuncStorage &storage) const;
    Expr slots(FuncId func, const FuncStorage &storage) const;
    Expr computing_iterations(const FuncStorage &storage) const;

    const LoopTree &tree_;
    const graph::Graph &graph_;
    const Demand &demand_;
    const TailRules &rules_;
    const LetTable &lets_;
    LoopBounds bounds_;
};

/// Step 3 of a plan. `kept`: the region, the window and the folds of each Func.
StoragePlan plan_storage(const LoopTree &tree, const Demand &demand, const TailRules &rules,
                         const LetTable &lets, const std::vector<FuncStorage> &kept);

}  // namespace Pipe::region
