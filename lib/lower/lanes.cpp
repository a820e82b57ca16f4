#include "lower/lanes.h"

#include <algorithm>
#include <unordered_set>

#include "ir/shared.h"
#include "ir/visit.h"

namespace Pipe::lower {

using namespace ir;

namespace {

/// The scalar of which all lanes are copies; undefined if there is none.
Expr uniform(const Expr &e) {
    if (e.type().is_scalar())
        return e;
    return e->op == Op::Broadcast ? e->value() : Expr();
}

/// First lane and distance of evenly spaced lanes.
struct Even {
    Expr base, stride;
    explicit operator bool() const { return base.defined(); }
};

Even evenly_spaced(const Expr &e) {
    if (e->op == Op::Ramp)
        return {e->base(), e->stride()};
    Expr scalar = uniform(e);
    if (!scalar.defined() || !scalar.type().is_int_or_uint())
        return {};
    return {scalar, make_const(scalar.type(), 0)};
}

Expr fold_cast(Type type, const Expr &e) {
    int64_t value = 0;
    if (type.is_int() && e.type().is_int() && e->op == Op::IntImm && as_const_int(e, &value) &&
        type.can_represent(value))
        return make_int(type, value);
    return make_cast(type, e);
}

Expr fold_bool(Op op, const Expr &a, const Expr &b) {
    bool absorbing = op == Op::Or;  // true || x, false && x
    if (is_bool_const(a, absorbing) || is_bool_const(b, !absorbing))
        return a;
    if (is_bool_const(b, absorbing) || is_bool_const(a, !absorbing))
        return b;
    return make_binary(op, a, b);
}

/// A binary operation on scalars, or on vectors whose shape is of no help.
Expr plain_binary(Op op, const Expr &a, const Expr &b) {
    switch (op) {
    case Op::Add:
        return a.type().is_int_or_uint() ? add(a, b) : make_binary(op, a, b);
    case Op::Sub:
        return a.type().is_int_or_uint() ? sub(a, b) : make_binary(op, a, b);
    case Op::Mul:
        return a.type().is_int_or_uint() ? mul(a, b) : make_binary(op, a, b);
    case Op::Div:
        return a.type().is_int() ? div(a, b) : make_binary(op, a, b);
    case Op::Mod:
        return a.type().is_int() ? mod(a, b) : make_binary(op, a, b);
    case Op::Min:
        return ir::min(a, b);
    case Op::Max:
        return ir::max(a, b);
    case Op::And:
    case Op::Or:
        return fold_bool(op, a, b);
    default:
        return make_binary(op, a, b);
    }
}

/// Quotient and remainder by a constant d > 0 of lanes that are a multiple of d apart.
Expr even_division(Op op, const Even &x, const Expr &divisor, int lanes) {
    int64_t stride = 0, d = 0;
    bool wraps = !divisor.type().is_int() || divisor.type().bits() < 32;
    if (wraps || !as_const_int(x.stride, &stride) || !as_const_int(divisor, &d))
        return Expr();
    if (d <= 0 || stride % d != 0)
        return Expr();
    Expr base = plain_binary(op, x.base, divisor);
    return make_ramp(base, make_const(base.type(), op == Op::Div ? stride / d : 0), lanes);
}

/// Sums, differences and multiples of ramps are ramps (also where the type wraps); undefined where the
/// operation does not keep lanes evenly spaced.
Expr even_binary(Op op, const Expr &a, const Expr &b) {
    Even x = evenly_spaced(a), y = evenly_spaced(b);
    int lanes = a.type().lanes();
    if (!x || !y)
        return Expr();
    if (op == Op::Add)
        return make_ramp(add(x.base, y.base), add(x.stride, y.stride), lanes);
    if (op == Op::Sub)
        return make_ramp(sub(x.base, y.base), sub(x.stride, y.stride), lanes);
    if ((op == Op::Div || op == Op::Mod) && is_const(y.stride, 0))
        return even_division(op, x, y.base, lanes);
    if (op != Op::Mul)
        return Expr();
    if (is_const(y.stride, 0))
        return make_ramp(mul(x.base, y.base), mul(x.stride, y.base), lanes);
    if (is_const(x.stride, 0))
        return make_ramp(mul(x.base, y.base), mul(x.base, y.stride), lanes);
    return Expr();
}

Expr rebuild_binary(Op op, const Expr &a, const Expr &b) {
    if (a.type().is_vector()) {
        Expr x = uniform(a), y = uniform(b);
        if (x.defined() && y.defined())
            return make_broadcast(plain_binary(op, x, y), a.type().lanes());
        Expr even = even_binary(op, a, b);
        if (even.defined()) {
            return is_const(even->stride(), 0) ? make_broadcast(even->base(), a.type().lanes())
                                               : even;
        }
    }
    return plain_binary(op, a, b);
}

/// A cast from int32 to int64 keeps a ramp: int32 does not overflow.
Expr rebuild_cast(Type type, const Expr &value) {
    if (value.type().is_scalar())
        return fold_cast(type, value);
    Expr scalar = uniform(value);
    Type element = type.element_of(), from = value.type().element_of();
    if (scalar.defined())
        return make_broadcast(fold_cast(element, scalar), type.lanes());
    bool exact =
        from.is_int() && from.bits() >= 32 && element.is_int() && element.bits() >= from.bits();
    if (value->op != Op::Ramp || !exact)
        return make_cast(type, value);
    return make_ramp(fold_cast(element, value->base()), fold_cast(element, value->stride()),
                     type.lanes());
}

Expr rebuild_select(const Expr &condition, const Expr &t, const Expr &f) {
    Expr scalar = uniform(condition);
    const Expr &c = scalar.defined() ? scalar : condition;
    if (is_bool_const(c, true))
        return t;
    if (is_bool_const(c, false))
        return f;
    return make_select(c, t, f);
}

Expr rebuild_load(const Expr &e, const Expr &index, Expr predicate) {
    if (predicate.defined() && is_bool_const(predicate, true))
        predicate = Expr();
    Type element = e.type().element_of();
    Expr scalar = uniform(index), scalar_predicate = predicate;
    if (predicate.defined())
        scalar_predicate = uniform(predicate);
    bool same_predicate = !predicate.defined() || scalar_predicate.defined();
    if (index.type().is_vector() && scalar.defined() && same_predicate)
        return make_broadcast(make_load(element, e->name, scalar, scalar_predicate),
                              index.type().lanes());
    return make_load(element.with_lanes(index.type().lanes()), e->name, index, predicate);
}

Expr rebuild_call(const Expr &e, std::vector<Expr> args, int lanes) {
    std::vector<Expr> scalars;
    for (const Expr &arg : args)
        scalars.push_back(uniform(arg));
    bool all_uniform =
        std::all_of(scalars.begin(), scalars.end(), [](auto &s) { return s.defined(); });
    bool repeatable = e->call_kind != CallKind::Extern && lanes > 1 && all_uniform;
    Type type = repeatable ? e.type().element_of() : e.type().with_lanes(lanes);
    Expr call =
        make_call(type, e->name, repeatable ? scalars : args, e->call_kind, e->index, e->referent);
    return repeatable ? make_broadcast(call, lanes) : call;
}

Expr rebuild_reduce(const Expr &e, const Expr &value) {
    Expr scalar = uniform(value);
    bool idempotent = e->reduce_op != Op::Add && e->reduce_op != Op::Mul;
    if (scalar.defined() && idempotent)
        return make_broadcast(scalar, e.type().lanes());
    return make_vector_reduce(e->reduce_op, value, e.type().lanes());
}

/// The number of lanes that children of these lanes are brought to.
int common_lanes(const std::vector<Expr> &args) {
    int lanes = 1;
    for (const Expr &arg : args)
        if (arg.defined())
            lanes = std::max<int>(lanes, arg.type().lanes());
    return lanes;
}

}  // namespace

Expr widen(Expr e, int lanes) {
    return e.type().is_scalar() ? make_broadcast(std::move(e), lanes) : e;
}

Expr rebuild(const Expr &e, std::vector<Expr> args) {
    if (args.empty())
        return e;
    if (e->op == Op::Let)
        return make_let(e->name, args[0], args[1]);
    if (e->op == Op::VectorReduce)
        return rebuild_reduce(e, args[0]);
    if (e->op == Op::Broadcast)
        return make_broadcast(args[0], e.type().lanes());
    if (e->op == Op::Interleave || e->op == Op::Slice)
        return with_args(e, std::move(args));
    if (e->op == Op::Ramp)
        return make_ramp(args[0], args[1], e.type().lanes());
    int lanes = common_lanes(args);
    for (size_t i = 0; i < args.size(); i++) {
        bool stays_scalar = e->op == Op::Select && i == 0;
        if (args[i].defined() && !stays_scalar)
            args[i] = widen(args[i], lanes);
    }
    switch (e->op) {
    case Op::Cast:
        return rebuild_cast(e.type().with_lanes(lanes), args[0]);
    case Op::Reinterpret:
        return make_reinterpret(e.type().with_lanes(lanes), args[0]);
    case Op::Not:
        return negated(args[0]);
    case Op::Select:
        return rebuild_select(args[0], args[1], args[2]);
    case Op::Load:
        return rebuild_load(e, args[0], args[1]);
    case Op::Call:
        return rebuild_call(e, std::move(args), lanes);
    default:
        return rebuild_binary(e->op, args[0], args[1]);
    }
}

Expr combine(Op op, const Expr &a, const Expr &b) {
    int lanes = std::max(a.type().lanes(), b.type().lanes());
    return rebuild_binary(op, widen(a, lanes), widen(b, lanes));
}

Expr both(const Expr &a, const Expr &b) {
    if (!a.defined())
        return b;
    return b.defined() ? combine(Op::And, a, b) : a;
}

Expr negated(const Expr &a) {
    Expr scalar = uniform(a);
    if (a.type().is_vector() && scalar.defined())
        return make_broadcast(negated(scalar), a.type().lanes());
    if (is_bool_const(a, true) || is_bool_const(a, false))
        return make_const(Bool(), is_bool_const(a, false));
    return a->op == Op::Not ? a->value() : make_not(a);
}

Expr all_lanes(Op op, const Expr &e) {
    if (e.type().is_scalar())
        return e;
    int64_t stride = 0;
    bool is_ramp = e->op == Op::Ramp && as_const_int(e->stride(), &stride);
    if (is_ramp && (op == Op::Min || op == Op::Max)) {
        bool first = (op == Op::Min) == (stride >= 0);
        int64_t distance = first ? 0 : stride * (e.type().lanes() - 1);
        return add(e->base(), make_const(e->base().type(), distance));
    }
    return rebuild_reduce(make_vector_reduce(op, e, 1), e);
}

bool is_bool_const(const Expr &e, bool value) {
    return e.type().is_bool() && is_const(e, value ? 1 : 0);
}

bool has_side_effect(const Expr &e) {
    return contains(e, [](const ExprNode &node) {
        return node.op == Op::Call && node.call_kind == CallKind::Extern;
    });
}

std::set<std::string> buffers_read(const Expr &e) {
    std::set<std::string> names;
    each_node(e, [&](const ExprNode &node) {
        if (node.op == Op::Load)
            names.insert(node.name);
        return true;
    });
    return names;
}

std::set<std::string> buffers_written(const Stmt &s) {
    std::set<std::string> names;
    auto note = [&](const Stmt &child) {
        if (child->op == StmtOp::Store)
            names.insert(child->name);
        return true;
    };
    walk(s, note, [](const Expr &) { return false; });
    return names;
}

}  // namespace Pipe::lower
