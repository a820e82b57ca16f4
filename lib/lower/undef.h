#pragma once
// Values that are not to be stored.

#include "ir/expr_node.h"

namespace Pipe::lower {

/// What is stored of a value.
struct Stored {
    Expr value;      ///< undefined: nothing
    Expr condition;  ///< undefined: always
};

/// Takes undef() out of a value that is to be stored. What depends on undef() is not stored; of a
/// select, only the arm that does not is, where it is chosen:
///     f[i] = undef()                      nothing
///     f[i] = select(c, v, undef() + 1)    if c: f[i] = v
Stored without_undef(const Expr &value);

}  // namespace Pipe::lower
