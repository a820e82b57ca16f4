// lerp: between two values, by a weight of another type.

#include <algorithm>

#include <fmt/format.h>

#include "ir/intrinsics.h"
#include "language/match.h"
#include <pipe/operators.h>

namespace Pipe {

using language::reject;

namespace {

double whole(Type type) {
    return static_cast<double>(type.max_uint());
}

/// A weight in [0, 1] for values that are float32 or float64.
Expr float_weight(Type type, const Expr &weight) {
    if (weight.type().is_float())
        return cast(type, weight);
    Type precise = weight.type().bits() > 16 || type.bits() == 64 ? Float(64) : Float(32);
    return cast(type, cast(precise, weight) / ir::make_float(precise, whole(weight.type())));
}

/// A weight for integers of `bits` bits, which must not be narrower: unsigned with as many bits,
/// whose maximum means 1. Float weights are truncated.
Expr integer_weight(int bits, const Expr &weight) {
    Type from = weight.type(), to = UInt(bits);
    if (from.is_float()) {
        Type precise = bits > 16 || from.bits() == 64 ? Float(64) : Float(32);
        Expr scaled = cast(precise, weight) * ir::make_float(precise, whole(to));
        return bits == 64 ? saturating_cast(to, scaled) : cast(to, scaled);
    }
    if (from.bits() == 1)
        return select(weight, ir::make_int(to, -1), ir::make_int(to, 0));
    // 0xab becomes 0xabab: exact, because both maximum values are 2^n - 1.
    Expr result = cast(to, weight);
    for (int known = from.bits(); known < bits; known *= 2)
        result = result | (result << known);
    return result;
}

void check_operands(const Expr &zero, const Expr &one, const Expr &weight) {
    if (zero.type() != one.type())
        reject("lerp", zero, one, "the two values must have one type. Cast one of them.");
    if (zero.type().is_handle())
        reject("lerp", zero, one, "they are not numbers. Cast them first.");
    if (!weight.type().is_float() && !weight.type().is_uint())
        reject("lerp", weight,
               "the weight must be unsigned or float. Cast it, as in cast<float>(x).");
    if (weight->op == ir::Op::FloatImm && !zero.type().is_float() &&
        !(weight->float_value >= 0 && weight->float_value <= 1))
        reject("lerp", weight, "a weight for integers must lie in [0, 1]. Divide it by its range.");
}

}  // namespace

Expr lerp(const Expr &zero, const Expr &one, const Expr &weight) {
    language::require_defined("lerp", zero, one);
    language::require_defined("lerp", weight);
    Expr a = zero, b = one;
    language::adapt_constants("lerp", a, b);
    check_operands(a, b, weight);
    Type type = a.type();
    if (type.is_float() && type.bits() == 16)  // rounded once, at the end
        return cast(type, lerp(cast(Float(32), a), cast(Float(32), b), weight));
    if (type.is_float()) {
        Expr w = float_weight(type, weight);
        return a * (ir::make_const(type, 1) - w) + b * w;
    }
    if (type.is_bool()) {
        Expr half =
            weight.type().is_float()
                ? ir::make_float(weight.type(), 0.5)
                : ir::make_int(weight.type(), static_cast<int64_t>(weight.type().max_uint() / 2));
        return select(weight > half, b, a);
    }
    // A wider weight keeps its precision: the values are widened.
    int bits = weight.type().is_uint() ? std::max(type.bits(), weight.type().bits()) : type.bits();
    Type wide = type.with_bits(bits);
    return cast(type, ir::make_call(wide, ir::intrinsic::lerp,
                                    {cast(wide, a), cast(wide, b), integer_weight(bits, weight)},
                                    ir::CallKind::Intrinsic));
}

}  // namespace Pipe
