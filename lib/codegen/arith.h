#pragma once
// The IR's arithmetic in LLVM IR, with the semantics of ir/expr_node.h. All functions accept
// scalars or vectors; `type` is the type of the operands.

#include "codegen/range.h"
#include "codegen/values.h"

namespace Pipe::codegen {

llvm::Value *emit_add(Builder &b, Type type, llvm::Value *x, llvm::Value *y);
llvm::Value *emit_sub(Builder &b, Type type, llvm::Value *x, llvm::Value *y);
llvm::Value *emit_mul(Builder &b, Type type, llvm::Value *x, llvm::Value *y);

/// Integers: Euclidean, x / 0 = 0. `facts`: the range of x, which determines the instructions.
llvm::Value *emit_div(Builder &b, Type type, llvm::Value *x, llvm::Value *y,
                      ir::ConstantInterval facts);
/// Integers: in [0, |y|), x % 0 = 0. Floats: x - y * floor(x / y).
llvm::Value *emit_mod(Builder &b, Type type, llvm::Value *x, llvm::Value *y,
                      ir::ConstantInterval facts);

/// Floats: y where either is NaN.
llvm::Value *emit_min(Builder &b, Type type, llvm::Value *x, llvm::Value *y);
llvm::Value *emit_max(Builder &b, Type type, llvm::Value *x, llvm::Value *y);

llvm::Value *emit_compare(Builder &b, ir::Op op, Type type, llvm::Value *x, llvm::Value *y);
llvm::Value *emit_cast(Builder &b, Type from, Type to, llvm::Value *x);

llvm::Value *emit_abs(Builder &b, Type type, llvm::Value *x);
llvm::Value *emit_absd(Builder &b, Type type, llvm::Value *x, llvm::Value *y);

/// Shifts left by `amount`, or right if `amount` is negative. A shift by all bits or more gives 0
/// (or, for right shifts of negative values, -1).
llvm::Value *emit_shift(Builder &b, Type type, llvm::Value *x, Type amount_type,
                        llvm::Value *amount, bool left);

/// Combines adjacent lanes to `lanes` results. Floats are combined as a tree, not in order.
llvm::Value *emit_vector_reduce(Builder &b, ir::Op op, Type type, llvm::Value *x, int lanes);
/// Each lane combined with those before it, in log2(lanes) steps. `identity`: of the operator, a scalar.
llvm::Value *emit_prefix(Builder &b, ir::Op op, Type type, llvm::Value *x, llvm::Value *identity);

}  // namespace Pipe::codegen
