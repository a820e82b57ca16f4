// Rules for vectors, casts, loads and calls.

#include "ir/constant_bounds.h"
#include "ir/equal.h"
#include "ir/fold.h"
#include "ir/intrinsics.h"
#include "ir/rules.h"

namespace Pipe::ir {
namespace {

using Interval = ConstantInterval;

bool is_lanes(const Expr &e) {
    return e->op == Op::Broadcast || e->op == Op::Ramp;
}
const Expr &base_of(const Expr &e) {
    return e->args[0];
}
Expr stride_of(const Expr &e) {
    return e->op == Op::Ramp ? e->stride() : make_const(e.type().element_of(), 0);
}

/// Whether there is no load and no call inside: an index that costs the same in 64 bits as in 32.
/// Examines few nodes.
bool is_cheap_index(const Expr &e, int *budget) {
    if (--*budget < 0 || e->op == Op::Load || e->op == Op::Call)
        return false;
    for (const Expr &arg : e->args)
        if (!is_cheap_index(arg, budget))
            return false;
    return true;
}

}  // namespace

Expr Rules::ramp(const Expr &base, const Expr &stride, int lanes) {
    return is_const(stride, 0) ? make_broadcast(base, lanes) : make_ramp(base, stride, lanes);
}

Expr Rules::broadcast(const Expr &value, int lanes) {
    return make_broadcast(value, lanes);
}

/// Applies an operation on ramps and broadcasts to their scalars; undefined if impossible.
Expr Rules::lanes(Op op, const Expr &a, const Expr &b) {
    if (a->op == Op::Broadcast && b->op == Op::Broadcast)
        return broadcast(binary(op, a->value(), b->value()), a.type().lanes());
    bool integer_lanes = a.type().is_int_or_uint() && is_lanes(a) && is_lanes(b);
    return integer_lanes ? lanes_of_ramp(op, a, b) : Expr();
}

Expr Rules::lanes_of_ramp(Op op, const Expr &a, const Expr &b) {
    int n = a.type().lanes();
    if (op == Op::Add || op == Op::Sub)
        return ramp(binary(op, base_of(a), base_of(b)), binary(op, stride_of(a), stride_of(b)), n);
    if (op == Op::Mul && (a->op == Op::Broadcast || b->op == Op::Broadcast)) {
        const Expr &factor = a->op == Op::Broadcast ? base_of(a) : base_of(b);
        const Expr &r = a->op == Op::Broadcast ? b : a;
        return ramp(binary(op, base_of(r), factor), binary(op, stride_of(r), factor), n);
    }
    int64_t stride = 0, c = 0;
    bool divides = (op == Op::Div || op == Op::Mod) && has_no_overflow(a.type()) &&
                   as_const_int(stride_of(a), &stride) && as_const_int(b, &c) && c > 0;
    if (!divides)
        return Expr();
    Type scalar = a.type().element_of();
    Expr divisor = make_int(scalar, c);
    if (stride % c == 0)
        return ramp(binary(op, base_of(a), divisor),
                    make_int(scalar, op == Op::Div ? stride / c : 0), n);
    // Do all lanes lie between the same two multiples of the divisor?
    Expr first = binary(Op::Mod, base_of(a), divisor);
    Interval range = bounds(first) + Interval::single(stride) * Interval{0, n - 1};
    if (!range.within({0, c - 1}))
        return Expr();
    return op == Op::Div ? broadcast(binary(op, base_of(a), divisor), n)
                         : ramp(first, stride_of(a), n);
}

/// Merges the ramps and broadcasts of a sum into one ramp; other vectors follow.
Expr Rules::sum_of_lanes(const Linear &given) {
    int n = given.type.lanes();
    Type scalar = given.type.element_of();
    Linear rest{given.type, 0, {}}, base{scalar, given.constant, {}}, stride{scalar, 0, {}};
    for (const auto &t : given.terms) {
        if (!is_lanes(t.atom)) {
            rest.terms.push_back(t);
        } else if (!base.add(Linear::from_expr(base_of(t.atom)), t.coefficient) ||
                   !stride.add(Linear::from_expr(stride_of(t.atom)), t.coefficient)) {
            return given.to_expr();
        }
    }
    if (rest.terms.size() == given.terms.size() && !rest.is_constant())
        return given.to_expr();
    Expr b = sum(base), s = sum(stride);
    if (!b.defined() || !s.defined())
        return given.to_expr();
    Expr lanes = ramp(b, s, n);
    if (rest.is_constant())
        return lanes;
    return rest.add(Linear::from_expr(lanes)) ? rest.to_expr() : given.to_expr();
}

Expr Rules::cast(Type type, const Expr &a) {
    Type from = a.type();
    if (from == type)
        return a;
    if (Expr folded = fold_cast(type, a); folded.defined())
        return folded;
    if (a->op == Op::Broadcast)
        return broadcast(cast(type.element_of(), a->value()), type.lanes());
    // A ramp that cannot overflow, or whose lanes wrap in any case.
    bool narrows = type.is_int_or_uint() && !type.is_bool() && type.bits() <= from.bits();
    bool widens = has_no_overflow(from) && has_no_overflow(type) && type.bits() >= from.bits();
    bool wraps = narrows && !has_no_overflow(type);
    if (a->op == Op::Ramp && from.is_int_or_uint() && (wraps || widens))
        return ramp(cast(type.element_of(), a->base()), cast(type.element_of(), a->stride()),
                    type.lanes());
    if (a->op == Op::Cast) {
        const Expr &x = a->value();
        Type inner = x.type();
        bool lossless =
            inner.is_int_or_uint() && from.is_int_or_uint() && !from.is_bool() &&
            (inner.code() == from.code() ? inner.bits() <= from.bits()
                                         : inner.is_uint() && inner.bits() < from.bits());
        bool low_bits =
            narrows && inner.is_int_or_uint() && from.is_int_or_uint() && !from.is_bool();
        bool round_trip = inner.is_float() && from.is_float() && inner == type &&
                          (inner == from || inner.bits() < from.bits());
        if (lossless || low_bits || round_trip)
            return cast(type, x);
    }
    return widens && type.bits() > from.bits() ? widen(type, a) : make_cast(type, a);
}

/// int64(x*4 + y) = int64(x)*4 + int64(y), for indices.
Expr Rules::widen(Type type, const Expr &a) {
    Linear narrow = Linear::from_expr(a), wide{type, narrow.constant, {}};
    bool is_atom =
        narrow.constant == 0 && narrow.terms.size() == 1 && narrow.terms[0].coefficient == 1;
    int budget = 64;
    if (is_atom || !is_cheap_index(a, &budget))
        return make_cast(type, a);
    LinearBuilder builder(type);
    builder.add(make_const(type, narrow.constant));
    for (const auto &t : narrow.terms)
        builder.add(make_cast(type, t.atom), t.coefficient);
    Expr e = builder.finish(&wide) ? sum(wide) : Expr();
    return e.defined() ? e : make_cast(type, a);
}

Expr Rules::interleave(const std::vector<Expr> &values) {
    const Expr &first = values[0];
    bool uniform = first.type().is_scalar() || first->op == Op::Broadcast;
    for (const Expr &v : values)
        uniform = uniform && equal(v, first);
    if (!uniform)
        return make_interleave(values);
    int lanes = first.type().lanes() * static_cast<int>(values.size());
    return broadcast(first->op == Op::Broadcast ? first->value() : first, lanes);
}

Expr Rules::vector_reduce(const Expr &e, const Expr &value) {
    int lanes = e.type().lanes(), from = value.type().lanes();
    if (lanes == from)
        return value;
    if (value->op == Op::Broadcast) {
        const Expr &x = value->value();
        if (e->reduce_op != Op::Add && e->reduce_op != Op::Mul)
            return broadcast(x, lanes);
        if (e->reduce_op == Op::Add && x.type().is_int_or_uint() && !x.type().is_bool())
            return broadcast(binary(Op::Mul, x, make_const(x.type(), from / lanes)), lanes);
    }
    return value.same_as(e->value()) ? e : make_vector_reduce(e->reduce_op, value, lanes);
}

Expr Rules::load(const Expr &e, const Expr &index, const Expr &predicate) {
    Type type = e.type();
    int64_t all = 0;
    bool unconditional = !predicate.defined() || (as_const_int(predicate, &all) && all != 0);
    if (!unconditional && as_const_int(predicate, &all))
        return make_const(type, 0);
    if (unconditional && index->op == Op::Broadcast)
        return broadcast(make_load(type.element_of(), e->name, index->value()), type.lanes());
    if (index.same_as(e->element()) && predicate.same_as(e->predicate()))
        return e;
    return make_load(type, e->name, index, unconditional ? Expr() : predicate);
}

Expr Rules::call(const Expr &e, const std::vector<Expr> &args) {
    bool changed = false, all_broadcast = e.type().is_vector() && !args.empty();
    for (size_t i = 0; i < args.size(); i++) {
        changed |= !args[i].same_as(e->args[i]);
        all_broadcast &= args[i]->op == Op::Broadcast;
    }
    if (all_broadcast && !has_role(*e.get(), intrinsic::Role::Prefix) &&
        (e->call_kind == CallKind::Intrinsic || e->call_kind == CallKind::PureExtern)) {
        std::vector<Expr> scalars;
        for (const Expr &arg : args)
            scalars.push_back(arg->value());
        Expr scalar = make_call(e.type().element_of(), e->name, scalars, e->call_kind, e->index);
        return broadcast(call(scalar, scalars), e.type().lanes());
    }
    Expr now = changed ? with_args(e, args) : e;
    if (e->call_kind != CallKind::Intrinsic)
        return now;
    if (Expr folded = fold_intrinsic(now); folded.defined())
        return folded;
    int64_t c = 0;
    if (e->name == intrinsic::likely && is_constant(args[0]))
        return args[0];
    if (e->name == intrinsic::if_then_else && as_const_int(args[0], &c))
        return args[c != 0 ? 1 : 2];
    if (e->name == intrinsic::abs && args[0].type().is_int()) {
        Interval range = bounds(args[0]);
        if (range.lo >= 0)
            return cast(e.type(), args[0]);
    }
    if (e->name == intrinsic::promise_clamped && is_constant(args[0]))
        return args[0];
    return now;
}

}  // namespace Pipe::ir
