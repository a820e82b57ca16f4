#pragma once
// Value ranges of integer expressions: cheap facts for instruction selection.

#include <cstdint>
#include <functional>
#include <string>

#include "ir/expr_node.h"
#include "ir/facts.h"

namespace Pipe::codegen {

/// All values of a type; of uint64, which does not fit, everything. Unlike the interval of ir::constant_bounds it
/// has ends for int32: an instruction may rely on them.
ir::ConstantInterval range_of_type(Type type);

/// The range of an integer expression; `variable` gives the ranges of variables. Examines only a
/// few levels, so that the cost is constant.
ir::ConstantInterval
range_of(const Expr &e, const std::function<ir::ConstantInterval(const ir::ExprNode &)> &variable);

/// The largest power of two (at most `most`) that is known to divide a scalar integer.
int64_t known_factor(const Expr &e, int64_t most);

}  // namespace Pipe::codegen
