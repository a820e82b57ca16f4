#pragma once
// Constants of the type of coordinates and extents.

#include "ir/expr_node.h"

namespace Pipe::ir {

inline Expr int32(int64_t value) {
    return make_int(Int(32), value);
}

}  // namespace Pipe::ir
