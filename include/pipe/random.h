#pragma once
// Random numbers that are the same wherever and whenever they are computed.

#include <pipe/expr.h>

namespace Pipe {

/// A random number per point: a hash of the seed, the Func and the definition that it stands in,
/// and that definition's coordinates and RVars. The same on every schedule, vector width and
/// target. Within one definition, a copy of the Expr is the same number; each call makes another
/// one, unless both have the same `seed` (an integer). Without a seed, the how-manieth call in the
/// program it is takes its place.
Expr random_float(const Expr &seed = Expr());  ///< uniform in [0, 1), multiples of 2^-24
Expr random_uint(const Expr &seed = Expr());   ///< uniform uint32
Expr random_int(const Expr &seed = Expr());    ///< uniform int32

}  // namespace Pipe
