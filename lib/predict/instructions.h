#pragma once
// The instructions that expressions become.

#include "ir/expr_node.h"
#include "predict/nest.h"
#include <pipe/target.h>

namespace Pipe::predict {

/// Registers that a value of the type takes: 1 for a scalar.
double registers(Type type, const Target &target);

/// The work of one node, without that of its operands. Loads, variables and constants: none.
Work instructions_of(const ir::ExprNode &e, const Target &target);

/// Clocks from the operands to the result.
double latency_of(const ir::ExprNode &e);

/// Vectors of evenly spaced elements (`step` apart), or of any elements (uneven).
Work load_of(Type type, double step, bool even, const Target &target);
Work store_of(Type type, double step, bool even, const Target &target);

}  // namespace Pipe::predict
