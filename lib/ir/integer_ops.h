#pragma once
// The integer operations among the intrinsics (intrinsics.h): their values, defined once, in exact
// arithmetic; and what follows from that for ranges.

#include <optional>
#include <string>
#include <vector>

#include "ir/expr_node.h"
#include "ir/facts.h"

namespace Pipe::ir {

using WideInt = __int128;

/// Whether the call is one of these operations.
bool is_integer_op(const Expr &call);

/// Whether this operation only rises or only falls with each argument, while the others stand still.
bool is_monotone(const Expr &integer_op);

/// The value of the operation on arguments of these (scalar) types, in exact arithmetic: where it
/// does not fit `result`, it is to be wrapped, or is undefined as int32 and int64 overflow. A
/// uint64 is not negative here. Nothing where the name is none of the operations.
std::optional<WideInt> integer_op(const std::string &name, Type result,
                                  const std::vector<Type> &types, const std::vector<WideInt> &args);

/// All values that the call can have, where its arguments lie in these ranges. Tight where the
/// operation is monotone in each argument, as most are.
ConstantInterval integer_op_range(const Expr &call, const std::vector<ConstantInterval> &args);

}  // namespace Pipe::ir
