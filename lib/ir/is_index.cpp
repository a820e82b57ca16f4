// is_index() of constant_bounds.h.

#include <algorithm>
#include <cmath>

#include "ir/constant_bounds.h"
#include "ir/intrinsics.h"

namespace Pipe::ir {
namespace {

/// Whether the value of a call may be near the limits of its type although its operands are far from theirs.
/// Shifts to the left, also those by a negative amount to the right, wrap or saturate; scaled products and
/// saturating sums are meant for numbers that reach the limits.
bool may_reach_limits(const Expr &call) {
    namespace in = intrinsic;
    if (call->call_kind != CallKind::Intrinsic)
        return true;
    int64_t amount = 0;
    if (call->name == in::shift_right || call->name == in::rounding_shift_right)
        return !call->args[1].type().is_uint() &&
               !(as_const_int(call->args[1], &amount) && amount >= 0);
    return call->name == in::shift_left || call->name == in::rounding_shift_left ||
           call->name == in::mul_shift_right || call->name == in::rounding_mul_shift_right ||
           call->name == in::saturating_add || call->name == in::saturating_sub;
}

/// A constant such as the "infinity" of a search for the nearest point.
bool is_infinity(const Expr &constant) {
    if (constant->op == Op::FloatImm)  // of which a cast makes an integer
        return !(std::abs(constant->float_value) <= static_cast<double>(usual_limit(Int(32))));
    return constant->op == Op::IntImm && has_no_overflow(constant.type()) &&
           !ConstantInterval{-usual_limit(constant.type()), usual_limit(constant.type())}.contains(
               constant->int_value);
}

bool is_index(const Expr &e, int *budget) {
    if (--*budget < 0 || e->op == Op::Load || e->is_param || is_infinity(e) ||
        (e->op == Op::Call && may_reach_limits(e)))
        return false;
    // Hashes wrap.
    if (e->op == Op::Cast && e->value().type().is_uint() && e->value().type().bits() >= 32)
        return false;
    return std::all_of(e->args.begin(), e->args.end(),
                       [&](const Expr &arg) { return !arg.defined() || is_index(arg, budget); });
}

}  // namespace

bool is_index(const Expr &e) {
    int budget = 100;  // a budget of its own for questions that are too expensive
    return is_index(e, &budget);
}

}  // namespace Pipe::ir
