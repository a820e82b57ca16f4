#pragma once
// The innermost statement of a stage.

#include <map>
#include <string>
#include <vector>

#include "ir/stmt_node.h"
#include "region/plan.h"

namespace Pipe::lower {

/// The loops of a stage, with the results of bounds inference.
struct Nest {
    const region::StageNest *stage;
    const std::map<std::string, region::Range> &ranges;
    const std::vector<region::Tail> &tails;
    size_t shared;               ///< number of the outermost loops that other stages share
    std::vector<Nest> children;  ///< the stages that share loops of this one (compute_with)
    /// Of each transform: a guarded split whose last block shifts inwards, too (register_sums.h); empty: none.
    std::vector<bool> kept_inside = {};
};

/// The store of a definition's values at one point, under the masks of the loops' tails; for an
/// extern stage, the call of its C function.
ir::Stmt innermost(const region::RegionPlan &plan, const Nest &nest);

/// The value of the Func's pure definition (tuple element `value`) at the point of the loops of `nest`, one of its
/// updates. `pure`: the nest of the pure definition.
Expr pure_value(const region::RegionPlan &plan, const region::StageNest &pure,
                const region::StageNest &nest, size_t value);

}  // namespace Pipe::lower
