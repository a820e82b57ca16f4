#pragma once
// Approximations in float32 that vectorize well. CompileError for other types: cast the operand.

#include <pipe/operators.h>

namespace Pipe {

/// Relative error below 2^-18; for x > 0.
Expr fast_log(const Expr &x);
/// Relative error below 2^-18 if the result is a normal number.
Expr fast_exp(const Expr &x);
/// exp(log(x) * y) with the two functions above, in float, for x >= 0; the error grows with |y
/// log(x)|. If y is a constant integer: repeated multiplication in the type of x.
Expr fast_pow(const Expr &x, const Expr &y);
/// Absolute error below 1e-5 for |x| up to a few thousand.
Expr fast_sin(const Expr &x);
Expr fast_cos(const Expr &x);
/// 1 / x and 1 / sqrt(x), relative error below 2^-11. Uses the processor's estimate instruction if
/// it has one, so the last bits differ between processors.
Expr fast_inverse(const Expr &x);
Expr fast_inverse_sqrt(const Expr &x);

}  // namespace Pipe
