#include "predict/instructions.h"

#include <algorithm>
#include <cmath>

#include "autoschedule/operation_cost.h"
#include "ir/fold.h"
#include "ir/intrinsics.h"

namespace Pipe::predict {

using ir::ExprNode;
using ir::Op;

namespace {

/// Instructions per clock for which operation_cost.h states the cost of slow operations.
constexpr double slow_rate = 2;

bool is_vector_code(Type type) {
    return type.is_vector() || type.is_float();
}

Work simple(Type type, double count) {
    Work w;
    (is_vector_code(type) ? w.simple : w.scalar) = count;
    return w;
}

Work multiplication(Type type, double regs, const Target &target) {
    Work w;
    if (!is_vector_code(type)) {
        w.scalar = 1;
        return w;
    }
    w.arithmetic = regs;
    if (type.is_float())
        return w;
    if (type.bits() == 8)  // as two halves of 16 bits
        w.arithmetic = 2 * regs, w.shuffles = 3 * regs;
    if (type.bits() == 64 && !target.has_feature(Target::AVX512_Skylake))
        w.arithmetic = 3 * regs, w.simple = 5 * regs;
    else if (type.bits() == 64)
        w.arithmetic = 3 * regs;
    return w;
}

/// Widening takes a shuffle per register of the result, narrowing one per register of the value.
Work cast(Type from, Type to, const Target &target) {
    Work w;
    if (!is_vector_code(from) && !is_vector_code(to))
        return w;
    const double in = registers(from, target), out = registers(to, target);
    const bool converts = from.is_float() != to.is_float();
    if (to.is_scalar()) {
        w.simple = 1;
        return w;
    }
    if (from.is_bool() || to.is_bool()) {
        w.simple = std::max(in, out);
        return w;
    }
    if (from.bits() < to.bits())
        w.shuffles = out;
    for (int bits = from.bits(); bits > to.bits(); bits /= 2)
        w.shuffles += std::max(1.0, in * bits / from.bits());
    if (converts || (from.is_float() && from.bits() != to.bits()))
        w.simple += std::max(in, out);
    return w;
}

/// The tree of a horizontal reduction.
Work reduction(const ExprNode &e, const Target &target) {
    const Type from = e.value().type();
    const double in = registers(from, target), out = registers(e.type, target);
    const double steps = std::log2(std::max(1.0, double(from.lanes()) / e.type.lanes()));
    Work w;
    (e.type.is_float() ? w.arithmetic : w.simple) = std::max(0.0, in - out) + steps * out;
    w.shuffles = e.type.is_scalar() ? steps : in + steps * out;
    return w;
}

Work slow(const Expr &e, double regs) {
    Work w;
    w.slow = autoschedule::instructions(e) * regs / slow_rate;
    return w;
}

Work division(const ExprNode &node, double regs, const Target &target) {
    const Expr e(&node);
    const Expr &divisor = node.b();
    if (node.type.is_float()) {
        const bool exact = autoschedule::instructions(e) <= 1;
        return exact ? multiplication(node.type, regs, target) : slow(e, regs);
    }
    int64_t value = 0;
    if (!ir::as_const_int(divisor, &value))
        return node.type.is_scalar() ? slow(e, 1) : slow(e, node.type.lanes());
    if (value > 0 && (value & (value - 1)) == 0)
        return simple(node.type, regs);
    Work w = multiplication(node.type, regs, target);
    w += simple(node.type, (node.op == Op::Mod ? 4 : 2) * regs);
    if (node.type.is_vector() && node.type.bits() == 32)  // products of even and of odd lanes
        w.arithmetic += regs, w.shuffles += 2 * regs;
    return w;
}

/// Every step moves all lanes, and combines them.
Work prefix(const ExprNode &e, double regs) {
    const double steps = regs * std::log2(double(e.type.lanes()));
    Work w;
    (e.type.is_float() ? w.arithmetic : w.simple) = steps;
    w.shuffles = steps;
    return w;
}

Work intrinsic(const ExprNode &e, double regs, const Target &target) {
    if (ir::has_role(e, ir::intrinsic::Role::Prefix))
        return prefix(e, regs);
    struct Entry {
        const char *name;
        double native, other;  ///< instructions for types of 8 and 16 bits, and for others
    };
    static const Entry table[] = {
        {ir::intrinsic::saturating_add, 1, 3},
        {ir::intrinsic::saturating_sub, 1, 3},
        {ir::intrinsic::halving_add, 3, 3},
        {ir::intrinsic::halving_sub, 4, 4},
        {ir::intrinsic::absd, 2, 2},
        {ir::intrinsic::rounding_halving_add, 1, 4},
        {ir::intrinsic::mul_shift_right, 2, 4},
        {ir::intrinsic::rounding_mul_shift_right, 3, 5},
        {ir::intrinsic::rounding_shift_right, 3, 3},
        {ir::intrinsic::rounding_shift_left, 3, 3},
        {ir::intrinsic::lerp, 6, 8},
        {ir::intrinsic::popcount, 6, 6},
        {ir::intrinsic::count_leading_zeros, 2, 2},
        {ir::intrinsic::count_trailing_zeros, 4, 4},
    };
    double count = autoschedule::instructions(Expr(&e));
    for (const Entry &entry : table)
        if (e.name == entry.name)
            count = e.type.bits() <= 16 ? entry.native : entry.other;
    const bool shift = e.name == ir::intrinsic::shift_left || e.name == ir::intrinsic::shift_right;
    if (shift && e.type.bits() == 8 && e.type.is_vector())
        count = 3;
    if (shift && e.type.bits() == 16 && e.type.is_vector() && !ir::is_constant(e.args[1]) &&
        !target.has_feature(Target::AVX512_Skylake))
        count = 4;
    return simple(e.type, count * regs);
}

Work call(const ExprNode &e, double regs, const Target &target) {
    if (e.call_kind == ir::CallKind::Intrinsic)
        return intrinsic(e, regs, target);
    return autoschedule::instructions(Expr(&e)) <= 1 ? simple(e.type, regs) : slow(Expr(&e), regs);
}

}  // namespace

double registers(Type type, const Target &target) {
    if (type.is_scalar())
        return 1;
    const int bytes = type.is_bool() ? 1 : type.bytes();
    return std::max(1.0,
                    std::ceil(double(type.lanes()) * bytes / target.natural_vector_size(UInt(8))));
}

Work instructions_of(const ExprNode &e, const Target &target) {
    double regs = registers(e.type, target);
    for (const Expr &arg : e.args)
        if (arg.defined() && (ir::is_comparison(e.op) || e.op == Op::Select))
            regs = std::max(regs, registers(arg.type(), target));
    Work w;
    switch (e.op) {
    case Op::Add:
    case Op::Sub:
    case Op::Min:
    case Op::Max:
        if (!e.type.is_float())
            return simple(e.type, regs);
        w.arithmetic = regs;
        return w;
    case Op::Mul:
        return multiplication(e.type, regs, target);
    case Op::Div:
    case Op::Mod:
        return division(e, regs, target);
    case Op::Cast:
        return cast(e.value().type(), e.type, target);
    case Op::Call:
        return call(e, regs, target);
    case Op::VectorReduce:
        return reduction(e, target);
    case Op::Interleave:
        w.shuffles = regs * std::max(1.0, std::log2(double(e.args.size())));
        return w;
    case Op::Slice:
        w.shuffles = regs * std::max<double>(1, double(std::abs(e.int_value)) - 1);
        return w;
    case Op::Ramp:
        w.simple = regs;
        return w;
    case Op::Broadcast:
        w.shuffles = regs;
        return w;
    default:
        return simple(e.args.empty() ? e.type : e.args[0].type(),
                      autoschedule::instructions(Expr(&e)) * regs);
    }
}

double latency_of(const ExprNode &e) {
    constexpr double of_floats = 4, of_integers = 1, of_products = 4, of_slow = 15;
    const bool is_float = e.type.is_float();
    switch (e.op) {
    case Op::Add:
    case Op::Sub:
        return is_float ? of_floats : of_integers;
    case Op::Mul:
        return is_float ? of_floats : of_products;
    case Op::Div:
    case Op::Mod:
        return of_slow;
    case Op::Call:
        return autoschedule::instructions(Expr(&e)) > 1 ? of_slow : of_integers;
    case Op::Cast:
    case Op::VectorReduce:
        return of_floats;
    case Op::Variable:
    case Op::Broadcast:
    case Op::Reinterpret:
        return 0;
    default:
        return is_float ? 2 : of_integers;
    }
}

Work load_of(Type type, double step, bool even, const Target &target) {
    const double regs = registers(type, target), lanes = type.lanes();
    Work w;
    w.loads = 1;
    if (type.is_scalar() || (even && step == 0))
        return w;
    if (even && std::abs(step) == 1) {
        w.loads = regs, w.shuffles = step < 0 ? regs : 0;
    } else if (even && step >= 2 && step <= 4) {  // whole vectors, and shuffles
        w.loads = step * regs, w.shuffles = (step - 1) * regs;
    } else if (type.bits() >= 32 && target.has_feature(Target::AVX2)) {
        w.loads = lanes, w.simple = lanes, w.scalar = lanes / 2;
    } else {
        w.loads = lanes, w.shuffles = 1.5 * lanes, w.scalar = lanes;
    }
    return w;
}

Work store_of(Type type, double step, bool even, const Target &target) {
    const double lanes = type.lanes();
    Work w;
    if (type.is_scalar() || (even && std::abs(step) == 1)) {
        w.stores = registers(type, target), w.shuffles = step < 0 ? w.stores : 0;
    } else {
        w.stores = lanes, w.shuffles = lanes, w.scalar = even ? 0 : lanes;
    }
    return w;
}

}  // namespace Pipe::predict
