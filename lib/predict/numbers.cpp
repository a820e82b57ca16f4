#include "predict/numbers.h"

#include <cmath>

#include "ir/intrinsics.h"
#include "ir/shared.h"

namespace Pipe::predict {

using ir::CallKind;
using ir::ExprNode;
using ir::Op;

namespace {

/// A value of the type that depends on data.
Form any_of(Type type, uint64_t loops) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    double lo = -infinity, hi = infinity;
    if (type.is_int_or_uint() && type.bits() <= 16) {
        const double count = std::ldexp(1, type.bits());
        lo = type.is_uint() ? 0 : -count / 2, hi = lo + count - 1;
    }
    Form f = Form::unknown(lo, hi, loops);
    f.even = type.is_scalar();
    return f;
}

/// The bounds of a value that depends on data, after a cast.
Form narrowed(Form f, Type type) {
    const Form limits = any_of(type, 0);
    f.lo = std::max(f.lo, limits.lo), f.hi = std::min(f.hi, limits.hi);
    if (f.lo > f.hi)
        f.lo = limits.lo, f.hi = limits.hi;
    return f;
}

}  // namespace

void Numbers::bind(const std::string &name, Form form) {
    bound_.push(name, std::move(form));
    shared_.clear();
}

void Numbers::unbind(const std::string &name) {
    bound_.pop(name);
    shared_.clear();
}

Form Numbers::of(const Expr &e) {
    if (!ir::is_shared(e))
        return evaluate(*e.get());
    if (auto found = shared_.find(e.get()); found != shared_.end())
        return found->second.second;
    Form form = evaluate(*e.get());
    shared_.emplace(e.get(), std::pair{e, form});
    return form;
}

Form Numbers::evaluate(const ExprNode &e) {
    switch (e.op) {
    case Op::IntImm:
        return Form::constant(static_cast<double>(e.int_value));
    case Op::UIntImm:
        return Form::constant(static_cast<double>(e.uint_value));
    case Op::FloatImm:
        return Form::constant(e.float_value);
    case Op::Variable: {
        const Form *found = bound_.find(e.name);
        return found ? *found : any_of(e.type, 0);
    }
    case Op::Cast: {
        Form f = of(e.value());
        if (f.data)
            f = narrowed(f, e.type);
        return e.value().type().is_float() && !e.type.is_float() ? rounded(f, 0) : f;
    }
    case Op::Ramp: {
        Form f = of(e.base());
        const Form step = of(e.stride());
        f.even &= step.is_constant() && f.lane_step == 0;
        f = sum(f, step, lane_);
        f.lane_step = step.value;
        return f;
    }
    case Op::Broadcast:
        return of(e.value());
    case Op::Let:
        return let(e);
    case Op::Load:
        return any_of(e.type, of(e.element()).depends_on());
    case Op::Call:
        return call(e);
    case Op::Select:
        return select(of(e.condition()), of(e.if_true()), of(e.if_false()));
    case Op::Not:
        return negation(of(e.value()));
    case Op::VectorReduce:
        return reduction(e);
    case Op::Interleave: {
        Form f = of(e.args[0]);
        if (e.args.size() > 1)
            f.lane_step = of(e.args[1]).value - f.value;
        f.even = false;
        return f;
    }
    case Op::Slice: {
        Form f = of(e.value());
        f.value += f.lane_step * e.index, f.mean += f.lane_step * e.index;
        f.lane_step *= static_cast<double>(e.int_value);
        return f;
    }
    default:
        return ir::is_binary(e.op) ? binary(e) : any_of(e.type, 0);
    }
}

Form Numbers::let(const ExprNode &e) {
    bind(e.name, of(e.value()));
    Form result = of(e.body());
    unbind(e.name);
    return result;
}

Form Numbers::in_lane(const Expr &e, int lane) {
    std::swap(lane_, lane);
    shared_.clear();
    Form f = of(e);
    std::swap(lane_, lane);
    shared_.clear();
    return f;
}

/// Whether a condition holds in any lane, or in all: it changes once from the first lane to the last.
Form Numbers::reduction(const ExprNode &e) {
    const Expr &value = e.value();
    if ((e.reduce_op != Op::Or && e.reduce_op != Op::And) || !e.type.is_scalar())
        return any_of(e.type, of(value).depends_on());
    const Form first = in_lane(value, 0), last = in_lane(value, value.type().lanes() - 1);
    Form f =
        e.reduce_op == Op::Or ? negation(both(negation(first), negation(last))) : both(first, last);
    f.mean =
        e.reduce_op == Op::Or ? std::max(first.mean, last.mean) : std::min(first.mean, last.mean);
    f.value = f.mean >= 0.5 ? 1 : 0;
    f.even = true;
    return f;
}

Form Numbers::binary(const ExprNode &e) {
    const Form a = of(e.a()), b = of(e.b());
    const bool integers = !e.a().type().is_float();
    const Form one_more = integers ? Form::constant(1) : Form::constant(0);
    switch (e.op) {
    case Op::Add:
        return sum(a, b, 1);
    case Op::Sub:
        return sum(a, b, -1);
    case Op::Mul:
        return product(a, b);
    case Op::Div:
        return quotient(a, b, integers);
    case Op::Mod:
        return remainder(a, b);
    case Op::Min:
        return smaller(a, b);
    case Op::Max:
        return larger(a, b);
    case Op::LT:
        return less(a, b);
    case Op::GT:
        return less(b, a);
    case Op::LE:
        return less(a, sum(b, one_more, 1));
    case Op::GE:
        return less(b, sum(a, one_more, 1));
    case Op::EQ:
        return equals(a, b);
    case Op::NE:
        return negation(equals(a, b));
    case Op::And:
        return both(a, b);
    case Op::Or:
        return negation(both(negation(a), negation(b)));
    default:
        return any_of(e.type, a.depends_on() | b.depends_on());
    }
}

Form Numbers::intrinsic(const ExprNode &e) {
    auto is = [&](const char *name) { return e.name == name; };
    if (is(ir::intrinsic::likely) || ir::has_role(e, ir::intrinsic::Role::Barrier))
        return of(e.args[0]);
    if (is(ir::intrinsic::promise_clamped)) {
        Form f = of(e.args[0]);
        return f.data ? smaller(larger(f, of(e.args[1])), of(e.args[2])) : f;
    }
    if (is(ir::intrinsic::if_then_else))
        return select(of(e.args[0]), of(e.args[1]), of(e.args[2]));
    const bool shift = is(ir::intrinsic::shift_left) || is(ir::intrinsic::shift_right);
    if (shift) {
        const Form by = of(e.args[1]);
        const double factor = std::exp2(by.value);
        if (by.is_constant())
            return is(ir::intrinsic::shift_left)
                       ? product(of(e.args[0]), Form::constant(factor))
                       : quotient(of(e.args[0]), Form::constant(factor), true);
    }
    if (is(ir::intrinsic::bitwise_and)) {
        const Form mask = of(e.args[1]);
        if (mask.is_constant() && mask.value >= 0)
            return remainder(of(e.args[0]), Form::constant(mask.value + 1));
    }
    uint64_t loops = 0;
    for (const Expr &arg : e.args)
        loops |= arg.defined() ? of(arg).depends_on() : 0;
    return any_of(e.type, loops);
}

Form Numbers::call(const ExprNode &e) {
    if (e.call_kind == CallKind::Intrinsic)
        return intrinsic(e);
    for (const char *name : {"floor_", "ceil_", "round_", "trunc_"})
        if (e.call_kind == CallKind::PureExtern && e.name.rfind(name, 0) == 0)
            return rounded(of(e.args[0]), 0);
    uint64_t loops = 0;
    for (const Expr &arg : e.args)
        if (arg.defined() && arg.type().is_handle() == false && arg->op != Op::StringImm)
            loops |= of(arg).depends_on();
    return any_of(e.type, loops);
}

}  // namespace Pipe::predict
