#pragma once
// Specializations as a decision tree over whole schedules.

#include <optional>
#include <string>

#include <pipe/schedule.h>

namespace Pipe::schedules {

/// Two schedules; `holds` is used if the condition is true.
struct Branch {
    Expr condition;  ///< undefined: the pipeline fails
    std::string failure;
    FuncId func = FuncId::None;
    schedules::Schedule holds, otherwise;
};

/// Decides the first condition for which a definition is specialized, also for all other
/// definitions that have the same condition. Nothing if none is left. Conditions of one definition
/// are tested in order; conditions of different Funcs are tested one after the other, so each
/// additional distinct one doubles the code size.
std::optional<Branch> branch(const schedules::Schedule &schedule);

/// Calls f(schedule) for each schedule to which the decisions may lead. CompileError beyond
/// `limit`.
template <typename F> void for_each_variant(const schedules::Schedule &schedule, F &&f, int *left) {
    std::optional<Branch> b = branch(schedule);
    if (!b) {
        if (--*left < 0)
            throw CompileError("specialize: the conditions of all Funcs together produce too many "
                               "versions of the pipeline. Specialize fewer Funcs, or all for the "
                               "same conditions.");
        f(schedule);
        return;
    }
    if (!b->condition.defined())
        return;
    for_each_variant(b->holds, f, left);
    for_each_variant(b->otherwise, f, left);
}

constexpr int max_variants = 64;

}  // namespace Pipe::schedules
