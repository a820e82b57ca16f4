#pragma once
// Sums, minima and maxima of several operands, taken apart.

#include <functional>
#include <optional>

#include "ir/expr_node.h"

namespace Pipe::ir {

/// An expression as `special` op `rest`.
struct Chain {
    Op op = Op::Add;  ///< Add, Min or Max
    Expr special, rest;
};

/// Splits a sum, minimum or maximum, nested in any way, into the one operand for which `is_special` holds and the
/// others. Nothing if there is no such operand, or if it stands below another operation. (`rest` may contain
/// others.)
std::optional<Chain> take_operand(const Expr &e,
                                  const std::function<bool(const Expr &)> &is_special);

}  // namespace Pipe::ir
