#pragma once
// The conditions under which an expression reads Funcs.

#include <map>
#include <string>
#include <utility>

#include "lower/conditions.h"

namespace Pipe::lower {

/// By a Func's name.
using Conditions = std::map<std::string, Expr>;

/// Adds the smaller of two maps or sets to the larger: combine(all, entry).
template <typename C, typename F> void merge_into(C &all, C other, const F &combine) {
    if (other.size() > all.size())
        std::swap(all, other);
    for (auto &entry : other)
        combine(all, std::move(entry));
}

/// The condition that either holds.
void add_reads(Conditions &all, Conditions other);
/// Conjunction with the condition.
void restrict_to(const Expr &condition, Conditions &all);

/// The conditions under which Funcs are needed. Both arms of a select are evaluated, but the
/// unselected arm is dead, so its values are arbitrary; except if it determines an address, or is
/// passed to a C function.
Conditions reads_of(const Expr &e);

}  // namespace Pipe::lower
