#pragma once
// Removal of undef() from stored values.

#include "ir/expr_node.h"

namespace Pipe::lower {

/// What is stored of a value.
struct Stored {
    Expr value;      ///< undefined: nothing
    Expr condition;  ///< undefined: always
};

/// Removes undef() from a value to be stored. Values that depend on undef() are not stored; of a
/// select, only the other arm is stored, if it is chosen:
///     f[i] = undef()                      nothing
///     f[i] = select(c, v, undef() + 1)    if c: f[i] = v
Stored without_undef(const Expr &value);

}  // namespace Pipe::lower
