#pragma once
// Deterministic random numbers.

#include <pipe/expr.h>

namespace Pipe {

/// A random number per point: a hash of the seed, the Func, the definition, and the definition's
/// coordinates and RVars. It does not depend on schedule, vector width or target. Within one
/// definition, copies of the Expr give the same number, while separate calls give different ones
/// unless both have the same `seed` (an integer). The default seed is the call's index in program
/// order.
Expr random_float(const Expr &seed = Expr());  ///< uniform in [0, 1), multiples of 2^-24
Expr random_uint(const Expr &seed = Expr());   ///< uniform uint32
Expr random_int(const Expr &seed = Expr());    ///< uniform int32

}  // namespace Pipe
