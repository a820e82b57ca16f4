#pragma once
// When the Funcs are needed that an expression reads.

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

/// Where either holds.
void add_reads(Conditions &all, Conditions other);
/// Where the condition holds, too.
void restrict_to(const Expr &condition, Conditions &all);

/// When which Func is needed. Of a select both arms are computed, but the value of one is thrown
/// away, so that any does; not, however, where that says what to load, or goes to a C function.
Conditions reads_of(const Expr &e);

}  // namespace Pipe::lower
