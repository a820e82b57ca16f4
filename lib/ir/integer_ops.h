#pragma once
// The integer operations among the intrinsics (intrinsics.h): their values in exact arithmetic,
// defined once, and the ranges that follow.

#include <optional>
#include <string>
#include <vector>

#include "ir/expr_node.h"
#include "ir/facts.h"

namespace Pipe::ir {

using WideInt = __int128;

/// Whether the call is one of these operations.
bool is_integer_op(const Expr &call);

/// Whether the operation is monotone in each argument, for fixed others.
bool is_monotone(const Expr &integer_op);

/// The value of the operation on arguments of these (scalar) types, in exact arithmetic. If it does
/// not fit `result`, it wraps, or is undefined if int32 and int64 overflow. A uint64 is never
/// negative here. Nothing if `name` is not one of the operations.
std::optional<WideInt> integer_op(const std::string &name, Type result,
                                  const std::vector<Type> &types, const std::vector<WideInt> &args);

/// The range of the call if its arguments lie in these ranges. Tight for operations that are
/// monotone in each argument, as most are.
ConstantInterval integer_op_range(const Expr &call, const std::vector<ConstantInterval> &args);

}  // namespace Pipe::ir
