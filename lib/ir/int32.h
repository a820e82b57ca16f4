#pragma once
// Constants of the types of coordinates, extents and sizes in memory.

#include "ir/expr_node.h"

namespace Pipe::ir {

inline Expr int32(int64_t value) {
    return make_int(Int(32), value);
}

/// Of the type of element counts and byte counts.
inline Expr int64(int64_t value) {
    return make_int(Int(64), value);
}

}  // namespace Pipe::ir
