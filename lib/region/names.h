#pragma once
// The names that the loops use: lets for the ends of regions, and the shifts of shared loops.

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "region/loop_tree.h"

namespace Pipe::region {

/// Lets to bind just inside a level, each using only earlier ones.
using Lets = std::vector<std::pair<std::string, Expr>>;

struct Names {
    std::map<Level, Lets> lets;
    /// By the name of the stage's own variable: its difference from the variable of the loop, which
    /// the stage shares (compute_with) and with which it is aligned.
    std::map<std::string, Expr> shifts;

    const Lets &lets_at(const Level &level) const;
    /// 0 if the stage's variable is that of the loop.
    Expr shift(const LoopTree &tree, const StageNest &nest, const StageLoop &loop) const;
};

/// For a split that shifts inwards: the variable bound, inside its outer loop, to
/// min(outer * factor, extent - factor).
Expr shifted_offset(const graph::Graph &graph, const StageNest &nest,
                    const schedules::Transform &split);

}  // namespace Pipe::region
