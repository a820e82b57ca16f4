#include "lower/conditions.h"

#include "ir/extern_functions.h"
#include "ir/intrinsics.h"

namespace Pipe::lower {

using namespace ir;

namespace {

constexpr int most_nodes = 100, cost_of_load = 5;

bool is_load_or_call(const ExprNode &n) {
    if (n.op != Op::Call)
        return n.op == Op::Load;
    return n.call_kind == CallKind::Func || n.call_kind == CallKind::Image ||
           n.call_kind == CallKind::Extern || n.index == users_function;
}

bool is_guard(const ExprNode &n) {
    return is_intrinsic(n, intrinsic::if_then_else);
}

/// Replaces what is unknown by the weakest condition, or, below a Not, by the strongest.
class Weaken {
  public:
    explicit Weaken(const std::function<bool(const ExprNode &)> &unknown) : unknown_(unknown) {}

    Expr operator()(const Expr &e, bool up = true) {
        return done_[up](e, [&] { return weaken(e, up); });
    }

  private:
    Expr weaken(const Expr &e, bool up) {
        if (e->op == Op::And || e->op == Op::Or) {
            Expr a = (*this)(e->a(), up), b = (*this)(e->b(), up);
            return e->op == Op::And ? conjunction(a, b) : disjunction(a, b);
        }
        if (e->op == Op::Not) {
            Expr a = (*this)(e->value(), !up);
            return a.same_as(e->value()) ? e
                   : is_always(a)        ? make_const(Bool(), 0)
                   : is_const(a, 0)      ? always()
                                         : make_not(a);
        }
        if (is_guard(*e.get()) && up) {
            Expr guard = (*this)(e->args[0]), rest = (*this)(e->args[1]);
            if (guard.same_as(e->args[0]))
                return guarded(guard, rest);
            return conjunction(guard, loads_or_calls(rest) ? Weaken(is_load_or_call)(rest) : rest);
        }
        return contains(e, unknown_) ? make_const(Bool(), up ? 1 : 0) : e;
    }

    const std::function<bool(const ExprNode &)> &unknown_;
    Memo done_[2];
};

}  // namespace

Expr always() {
    return make_const(Bool(), 1);
}

bool is_always(const Expr &condition) {
    return condition.defined() && is_const(condition, 1);
}

Expr limited(const Expr &condition) {
    int nodes = 0;
    bool good = true;
    each_node(condition, [&](const ExprNode &n) {
        bool effect = n.op == Op::Call && n.call_kind == CallKind::Extern;
        return good = ++nodes <= most_nodes && !effect && n.op != Op::Let;
    });
    return good ? condition : always();
}

Expr conjunction(const Expr &a, const Expr &b) {
    if (!a.defined() || is_always(b))
        return a;
    if (!b.defined() || is_always(a))
        return b;
    if (is_const(a, 0) || is_const(b, 0))
        return make_const(Bool(), 0);
    return a.same_as(b) ? a : limited(make_binary(Op::And, a, b));
}

Expr disjunction(const Expr &a, const Expr &b) {
    if (!a.defined() || is_always(b) || is_const(a, 0))
        return b;
    if (!b.defined() || is_always(a) || is_const(b, 0))
        return a;
    return a.same_as(b) ? a : limited(make_binary(Op::Or, a, b));
}

Expr guarded(const Expr &guard, const Expr &condition) {
    if (!condition.defined() || !loads_or_calls(condition))
        return conjunction(limited(guard), condition);
    if (is_always(guard))
        return condition;
    return limited(make_call(Bool(), intrinsic::if_then_else,
                             {guard, condition, make_const(Bool(), 0)}, CallKind::Intrinsic));
}

Expr weakened(const Expr &condition, const std::function<bool(const ExprNode &)> &unknown) {
    if (!condition.defined() || !contains(condition, unknown))
        return condition;
    return Weaken(unknown)(condition);
}

bool loads_or_calls(const Expr &e) {
    return contains(e, is_load_or_call);
}

int cost(const Expr &condition) {
    int sum = 0;
    each_node(condition, [&](const ExprNode &n) {
        sum += is_load_or_call(n) ? cost_of_load : 1;
        return true;
    });
    return sum;
}

}  // namespace Pipe::lower
