#pragma once
// Specializations as a decision tree over whole schedules.

#include <optional>
#include <string>

#include <pipe/schedule.h>

namespace Pipe::schedules {

/// Two schedules, of which `holds` is for where the condition holds.
struct Branch {
    Expr condition;  ///< undefined: neither is, the pipeline fails
    std::string failure;
    FuncId func = FuncId::None;
    schedules::Schedule holds, otherwise;
};

/// Decides the first condition that a definition is specialized for, also for all other definitions
/// that have the same one. Nothing where none is left. Conditions of one definition come in their
/// order; those of different Funcs are tried one after the other, so that each pair of different
/// ones doubles what is compiled.
std::optional<Branch> branch(const schedules::Schedule &schedule);

/// Calls f(schedule) for each schedule that the decisions may lead to. CompileError beyond `limit`.
template <typename F> void for_each_variant(const schedules::Schedule &schedule, F &&f, int *left) {
    std::optional<Branch> b = branch(schedule);
    if (!b) {
        if (--*left < 0)
            throw CompileError("specialize: the conditions of all Funcs together make too many "
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
