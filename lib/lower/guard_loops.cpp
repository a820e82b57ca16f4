#include "lower/guard_loops.h"

#include <set>

#include "ir/equal.h"
#include "ir/scope.h"
#include "ir/simplify.h"
#include "ir/substitute.h"
#include "ir/visit.h"
#include "lower/conditions.h"
#include "region/conditions.h"

namespace Pipe::lower {

using namespace ir;

namespace {

enum class Over { Any, All };

/// a && b or a || b (conditions.h: undefined = never). What is long holds always, over any; never, over
/// all.
Expr combined(Over over, Op op, const Expr &a, const Expr &b) {
    Expr result = op == Op::And ? conjunction(a, b) : disjunction(a, b);
    bool certain = op == Op::And ? is_always(a) && is_always(b) : is_always(a) || is_always(b);
    return over == Over::All && is_always(result) && !certain ? Expr() : result;
}

/// A condition that holds wherever this one does for any value of the variable; or one where it does for
/// all (conditions.h: undefined = never).
Expr quantified(Over over, const Expr &condition, const std::string &name,
                const region::Interval &range) {
    if (!condition.defined() || !uses_var(condition, name))
        return condition;
    if (condition->op == Op::And || condition->op == Op::Or) {
        Expr a = quantified(over, condition->a(), name, range),
             b = quantified(over, condition->b(), name, range);
        return combined(over, condition->op, a, b);
    }
    const Expr unknown = over == Over::Any ? always() : Expr();
    std::vector<Expr> at_most_0;
    if (is_comparison(condition->op))
        at_most_0 = region::conjuncts_of(condition, true);
    if (at_most_0.empty())
        return unknown;
    region::IntervalScope scope;
    scope.push(name, range);
    Expr result = always();
    for (const Expr &e : at_most_0) {
        region::Interval values = region::bounds_of(e, scope);
        const Expr &end = over == Over::Any ? values.min : values.max;
        Expr holds = end.defined() ? make_binary(Op::LE, end, make_const(end.type(), 0)) : unknown;
        result = combined(over, Op::And, result, holds);
    }
    return result;
}

/// A statement, where it may act at all, and what it is where all conditions in it hold.
struct Guarded {
    Stmt stmt;
    Expr may;  ///< weaker than any condition in it
    Stmt full;
    Expr all;  ///< stronger than all of them
};

class GuardLoops {
  public:
    Guarded guard(const Stmt &s) {
        if (!s.defined())
            return {s, Expr(), s, always()};
        switch (s->op) {
        case StmtOp::If:
            return s->else_case().defined() ? children(s) : guard_if(s);
        case StmtOp::Block:
            return guard_block(s);
        case StmtOp::Let:
            return guard_let(s);
        case StmtOp::For:
            return guard_for(s);
        case StmtOp::Allocate:
        case StmtOp::Produce:
        case StmtOp::Consume:
            return with_body(s, guard(s->body()));
        default:
            return children(s);
        }
    }

  private:
    Scope<std::set<std::string>> decided_by_;  ///< the loops outside that change a name

    /// It always acts; so may what is in it.
    Guarded children(const Stmt &s) {
        Stmt now = map_children(
            s, [](const Expr &e) { return e; }, [this](const Stmt &c) { return guard(c).stmt; });
        return {now, always(), now, always()};
    }

    static Guarded with_body(const Stmt &s, const Guarded &body) {
        auto around = [&](const Stmt &b) {
            return b.same_as(s->body()) ? s : with_children(s, s->exprs, {b});
        };
        return {around(body.stmt), body.may, around(body.full), body.all};
    }

    Guarded guard_if(const Stmt &s) {
        Guarded body = guard(s->then_case());
        Stmt now = body.stmt.same_as(s->then_case()) ? s : make_if(s->condition(), body.stmt);
        const Expr &own = s->condition();
        bool known = !loads_or_calls(own) && !is_always(limited(own));
        return {now, known ? conjunction(own, body.may) : body.may, body.full,
                known ? combined(Over::All, Op::And, own, body.all) : Expr()};
    }

    Guarded guard_block(const Stmt &s) {
        std::vector<Stmt> stmts, full;
        Expr may, all = always();
        for (const Stmt &child : s->stmts) {
            Guarded part = guard(child);
            stmts.push_back(part.stmt), full.push_back(part.full);
            may = disjunction(may, part.may), all = combined(Over::All, Op::And, all, part.all);
        }
        return {make_block(std::move(stmts)), may, make_block(std::move(full)), all};
    }

    Guarded guard_let(const Stmt &s) {
        const Expr &value = s->value();
        std::set<std::string> loops;
        for (const std::string &name : free_vars(value))
            if (const auto *more = decided_by_.find(name))
                loops.insert(more->begin(), more->end());
        decided_by_.push(s->name, loops);
        Guarded result = with_body(s, guard(s->body()));
        decided_by_.pop(s->name);
        bool known = !loads_or_calls(value);
        for (Expr *condition : {&result.may, &result.all}) {
            if (!condition->defined() || !uses_var(*condition, s->name))
                continue;
            Expr outside = known ? limited(substitute(s->name, value, *condition)) : always();
            *condition = !is_always(outside) || condition == &result.may ? outside : Expr();
        }
        return result;
    }

    Guarded guard_for(const Stmt &s) {
        decided_by_.push(s->name, {s->name});
        Guarded result = with_body(s, guard(s->body()));
        decided_by_.pop(s->name);
        if (is_always(result.may) && is_always(result.all))
            return result;
        bool changes = (result.may.defined() && uses_var(result.may, s->name)) ||
                       (result.all.defined() && uses_var(result.all, s->name));
        if (changes) {
            Expr last = sub(add(s->min(), s->extent()), make_const(s->min().type(), 1));
            result.may = quantified(Over::Any, result.may, s->name, {s->min(), last});
            result.all = quantified(Over::All, result.all, s->name, {s->min(), last});
        } else if (s->kind == LoopKind::Serial && is_decided_by_several(result.may)) {
            result.stmt = make_if(result.may, result.stmt);
            // (What whole_sums leaves has no block of which all is needed.)
            if (result.all.defined() && !equal(result.may, result.all) &&
                s->partition != Partitioning::Remainder)
                result.stmt = make_if(result.all, result.full, result.stmt);
        }
        return result;
    }

    bool is_decided_by_several(const Expr &condition) const {
        std::set<std::string> loops;
        if (condition.defined())
            for (const std::string &name : free_vars(condition))
                if (const auto *more = decided_by_.find(name))
                    loops.insert(more->begin(), more->end());
        return loops.size() >= 2;
    }
};

}  // namespace

Stmt guard_loops(const Stmt &s) {
    return GuardLoops().guard(s).stmt;
}

}  // namespace Pipe::lower
