#pragma once
// rfactor: splits an update that combines over RVars into two.
//
//     f(x) = 0                                    m(x, u) = 0
//     f(x) += g(x, r)                      =>     m(x, u) += g(x, 8*ro + u)
//     r split into (ro, ri = 8), keep ri as u     f(x) = 0
//                                                 f(x) += m(x, ri)
//
//  1. Splits and fusions of RVars are applied to the definition: the remaining loops become
//     RVars, with a condition if a split does not divide.
//  2. The preserved ones become dimensions of the new Func m, which starts from the operator's
//     identity and combines over the others.
//  3. The update of f combines the values of m over the preserved ones. If it wrote an element that
//     depends on the others (a histogram), it iterates over all elements.

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "graph/graph.h"
#include "graph/reduction.h"

namespace Pipe::graph {

/// The update to factor. Expressions are those before or after freezing.
struct Factoring {
    std::vector<std::string> args;  ///< of the Func
    Stage stage;
    schedules::StageSchedule loops;
    std::vector<std::pair<std::string, std::string>> preserved;  ///< (loop, Var)
    IsSelf is_self;
    /// The call of the new Func that replaces a call of the old one.
    std::function<Expr(const ir::ExprNode &self, std::vector<Expr> args)> call;
};

struct Factored {
    std::vector<std::string> args;  ///< of the new Func: those of the old one, then the new ones
    Stage initial, update;          ///< of the new Func
    /// The old stage's loops, with the new dimensions where the preserved loops were, and its prefetches.
    schedules::StageSchedule update_loops;
    Stage merge;  ///< replaces the old stage
    schedules::StageSchedule merge_loops;
};

/// The extent of an RVar loop after the transforms; undefined for other loops.
Expr rvar_extent(const Stage &stage, const schedules::StageSchedule &loops,
                 const std::string &loop);

/// Whether factor() can preserve this loop; if not, *why gives the reason.
bool can_factor(const Stage &stage, const schedules::StageSchedule &loops, const std::string &loop,
                const Reduction &reduction, std::string *why);

/// If the result is empty, `why` gives the reason.
std::optional<Factored> factor(const Factoring &from, const Reduction &reduction, std::string *why);

}  // namespace Pipe::graph
