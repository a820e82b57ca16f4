#pragma once
// Stores that combine a value with the element that they replace.

#include <optional>

#include "ir/stmt_node.h"

namespace Pipe::lower {

/// a[i] = a[i] op value, or a[i] = a[i] - value
struct Update {
    ir::Op op;      ///< how the lanes' values are combined
    bool subtract;  ///< the combined value is subtracted
    Expr old, value;
};

/// Nothing if the store is not of this form, or reads other elements of its buffer.
std::optional<Update> as_update(const ir::Stmt &store);

}  // namespace Pipe::lower
