#include "ir/simplify.h"

#include "ir/constant_bounds.h"
#include "ir/equal.h"
#include "ir/simplify_walk.h"
#include "ir/visit.h"

namespace Pipe::ir {
namespace {

bool is_if_without_else(const Stmt &s) {
    return s->op == StmtOp::If && !s->else_case().defined();
}

/// if c { a }  if c { b }  ->  if c { a  b }, if a cannot change c.
std::vector<Stmt> join_ifs(const std::vector<Stmt> &stmts) {
    std::vector<Stmt> result;
    for (const Stmt &s : stmts) {
        if (!result.empty() && is_if_without_else(s) && is_if_without_else(result.back()) &&
            equal(s->condition(), result.back()->condition()) &&
            !contains(s->condition(), may_change))
            result.back() =
                make_if(s->condition(), make_block({result.back()->then_case(), s->then_case()}));
        else
            result.push_back(s);
    }
    return result;
}

class StmtSimplifier : public ExprSimplifier {
  public:
    using ExprSimplifier::ExprSimplifier;
    using ExprSimplifier::simplify;

    Stmt simplify(const Stmt &s) {
        if (!s.defined())
            return s;
        switch (s->op) {
        case StmtOp::Let:
            return simplify_let(s);
        case StmtOp::For:
            return simplify_for(s);
        case StmtOp::If:
            return simplify_if(s);
        case StmtOp::Block:
            return simplify_block(s);
        default:
            return simplify_other(s);
        }
    }

  private:
    Stmt simplify_let(const Stmt &s) {
        const Expr &given = s->value();
        int uses = uses_of(s.get());
        if (uses == 0 && !has_side_effect(given))
            return simplify(s->body());
        Expr value = simplify(given);
        Stmt body;
        bool replace = is_worth_replacing(value, uses, false);
        with_let(s->name, value, replace, [&] { body = simplify(s->body()); });
        if (!body.defined() && has_side_effect(value))
            return make_evaluate(value);
        if (replace || !body.defined())
            return body;
        bool same = value.same_as(given) && body.same_as(s->body());
        return same ? s : make_let(s->name, value, body);
    }

    Stmt simplify_for(const Stmt &s) {
        Expr min = simplify(s->min()), extent = simplify(s->extent());
        Stmt body;
        if (rules_.bounds(extent).hi <= 0)
            return Stmt();
        if (is_const(extent, 1) && s->kind != LoopKind::GPUBlock) {  // that one makes a kernel
            bool replace = is_worth_replacing(min, uses_of(s.get()), false);
            with_let(s->name, min, replace, [&] { body = simplify(s->body()); });
            return replace || !body.defined() ? body : make_let(s->name, min, body);
        }
        with_facts([&] { learn_loop(s->name, min, extent); }, [&] { body = simplify(s->body()); });
        if (!body.defined())
            return Stmt();
        bool same = min.same_as(s->min()) && extent.same_as(s->extent()) && body.same_as(s->body());
        return same ? s : with_children(s, {min, extent}, {body});
    }

    /// Inside the loop: min <= name < min + extent, so extent >= 1.
    void learn_loop(const std::string &name, const Expr &min, const Expr &extent) {
        Type type = min.type();
        if (!has_no_overflow(type) || extent.type() != type)
            return;
        Linear count = Linear::from_expr(extent);
        if (count.add(Linear::from_constant(type, 1), -1))
            facts_.assume_non_negative(count);
        ConstantInterval first = rules_.bounds(min), last = constant_bounds(count, facts_);
        facts_.bound(name, {first.lo, (first + last).hi});
        Linear from_start{type, 0, {{make_variable(type, name), 1}}};
        if (from_start.add(Linear::from_expr(min), -1))
            facts_.assume_non_negative(from_start);
        if (count.add(from_start, -1))
            facts_.assume_non_negative(count);
    }

    Stmt simplify_if(const Stmt &s) {
        Expr condition = simplify(s->condition());
        int64_t known = 0;
        if (as_const_int(condition, &known))
            return simplify(s->stmts[known != 0 ? 0 : 1]);
        Stmt then_case, else_case;
        with_facts([&] { facts_.assume(condition); },
                   [&] { then_case = simplify(s->then_case()); });
        with_facts([&] { facts_.assume_false(condition); },
                   [&] { else_case = simplify(s->else_case()); });
        if (!then_case.defined() && !else_case.defined())
            return Stmt();
        if (!then_case.defined())
            return make_if(rules_.logical_not(condition), else_case);
        // Both sides of && are evaluated, but the data read by the inner condition may exist only
        // if the outer one holds.
        if (!else_case.defined() && is_if_without_else(then_case) &&
            !contains(then_case->condition(), may_change))
            return make_if(rules_.binary(Op::And, condition, then_case->condition()),
                           then_case->then_case());
        bool same = condition.same_as(s->condition()) && then_case.same_as(s->then_case()) &&
                    else_case.same_as(s->else_case());
        return same ? s : make_if(condition, then_case, else_case);
    }

    /// After an assert, its condition holds.
    Stmt simplify_block(const Stmt &s) {
        std::vector<Stmt> stmts;
        auto simplify_all = [&] {
            for (const Stmt &child : s->stmts) {
                Stmt now = simplify(child);
                if (!now.defined())
                    continue;
                if (now->op == StmtOp::Assert)
                    facts_.assume(now->condition());
                stmts.push_back(std::move(now));
            }
        };
        with_facts([] {}, simplify_all);
        stmts = join_ifs(stmts);
        bool same = stmts.size() == s->stmts.size();
        for (size_t i = 0; same && i < stmts.size(); i++)
            same = stmts[i].same_as(s->stmts[i]);
        return same ? s : make_block(std::move(stmts));
    }

    Stmt simplify_other(const Stmt &s) {
        Stmt now = map_children(
            s, [this](const Expr &e) { return simplify(e); },
            [this](const Stmt &c) { return simplify(c); });
        int64_t known = 0;
        switch (s->op) {
        case StmtOp::Assert:
            return is_const(now->condition(), 1) ? Stmt() : now;
        case StmtOp::Evaluate:
            return has_side_effect(now->value()) ? now : Stmt();
        case StmtOp::Provide:
        case StmtOp::Store: {
            size_t place = s->op == StmtOp::Provide ? 0 : 2;
            if (!as_const_int(now->exprs[place], &known))
                return now;
            if (known == 0)
                return Stmt();
            std::vector<Expr> exprs = now->exprs;
            exprs[place] = Expr();
            return with_children(now, std::move(exprs), {});
        }
        case StmtOp::Prefetch:
        case StmtOp::Free:
        case StmtOp::Acquire:
        case StmtOp::Release:
        case StmtOp::Barrier:
        case StmtOp::Use:
            return now;
        case StmtOp::Fork:
            if (!now->producer().defined() || !now->consumer().defined())
                return make_block({now->producer(), now->consumer()});
            return now;
        case StmtOp::Memoize:
            return now->consumer().defined() ? now : Stmt();
        default:
            return now->stmts[0].defined() ? now : Stmt();  // storage, produce, exclusive ..
        }
    }
};

}  // namespace

Stmt simplify(const Stmt &given, const Facts &facts) {
    if (!given.defined())
        return given;
    Stmt s = given;
    LetUses uses = count_let_uses(s, facts);
    if (uses.has_shadowing) {
        s = without_shadowing(s, facts);
        uses = count_let_uses(s, facts);
    }
    Stmt result = StmtSimplifier(facts, uses).simplify(s);
    return uses.has_lets ? without_dead_lets(result) : result;
}

}  // namespace Pipe::ir
