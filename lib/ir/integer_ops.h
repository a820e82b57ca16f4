#pragma once
// The integer operations among the intrinsics (intrinsics.h): their values, defined once, in exact
// arithmetic; and what follows from that for ranges.

#include <optional>

#include "ir/constant_interval.h"
#include "ir/expr_node.h"

namespace Pipe::ir {

using WideInt = __int128;

/// The value of the intrinsic on these arguments, as numbers of their types (a uint64 is not
/// negative); nothing where the name is none of the integer operations, or where int32 or int64
/// would overflow. `result` and `types` are scalar.
std::optional<WideInt> integer_op(const std::string &name, Type result,
                                  const std::vector<Type> &types,
                                  const std::vector<WideInt> &args);

/// All values that the call can have, where its arguments lie in these ranges. Tight where the
/// operation is monotone in each argument, as most are.
ConstantInterval integer_op_range(const Expr &call, const std::vector<ConstantInterval> &args);

}  // namespace Pipe::ir
