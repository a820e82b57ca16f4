#include "ir/simplify.h"

#include "ir/constant_bounds.h"
#include "ir/equal.h"
#include "ir/fold.h"
#include "ir/shared.h"
#include "ir/simplify_walk.h"

namespace Pipe::ir {
namespace {

/// A let of a sum with more terms is kept; a shared sum with more terms stays shared.
constexpr int max_terms = 4;

/// The number of operands of a sum, up to `limit`.
int count_terms(const Expr &e, int limit) {
    if (e->op != Op::Add && e->op != Op::Sub)
        return e->op == Op::Mul && is_constant(e->b()) ? count_terms(e->a(), limit) : 1;
    int n = count_terms(e->a(), limit);
    return n >= limit ? n : n + count_terms(e->b(), limit - n);
}

bool is_sum(const Expr &e) {
    return (e->op == Op::Add || e->op == Op::Sub || e->op == Op::Mul) && has_no_overflow(e.type());
}

/// x / c or x % c: if the other one is visible, too, the sum of both may simplify to x.
bool is_quotient_of_variable(const Expr &e) {
    return (e->op == Op::Div || e->op == Op::Mod) && is_constant(e->b()) &&
           e->a()->op == Op::Variable;
}

/// A sum of a few variables: as cheap as a variable, and useful to expose.
bool is_small_sum(const Expr &e) {
    if (!has_no_overflow(e.type()) || count_terms(e, max_terms + 2) > max_terms + 1)
        return false;
    Linear sum = Linear::from_expr(e);
    if (sum.terms.size() > max_terms)
        return false;
    for (const auto &t : sum.terms) {
        const Expr &atom = t.atom->op == Op::Cast ? t.atom->value() : t.atom;
        if (atom->op != Op::Variable && !is_quotient_of_variable(atom))
            return false;
    }
    return true;
}

bool is_trivial(const Expr &e) {
    if (e->op == Op::Broadcast || e->op == Op::Cast)
        return is_trivial(e->value());
    return e->op == Op::Variable || e->op == Op::StringImm || is_constant(e);
}

/// Whether `e` has the same value wherever it is moved. The effort is limited: a large value is
/// better bound to a name.
/// named.
bool may_move(const Expr &e, bool loads_too, int *budget) {
    if (--*budget < 0)
        return false;
    if (e->op == Op::Load && !loads_too)
        return false;
    if (e->op == Op::Call) {
        bool reads = e->call_kind == CallKind::Func || e->call_kind == CallKind::Image;
        if (e->call_kind == CallKind::Extern || (reads && !loads_too))
            return false;
    }
    for (const Expr &arg : e->args)
        if (arg.defined() && !may_move(arg, loads_too, budget))
            return false;
    return true;
}

}  // namespace

int ExprSimplifier::uses_of(const void *let) const {
    auto found = uses_.uses.find(let);
    return found == uses_.uses.end() ? 0 : found->second;
}

bool ExprSimplifier::is_worth_replacing(const Expr &value, int uses, bool may_move_loads) const {
    if (is_trivial(value) || is_small_sum(value))
        return true;
    int budget = 64;
    // A ramp must be visible at the index: its loads are then dense instead of gathers.
    if (value->op == Op::Ramp && may_move(value, false, &budget))
        return true;
    budget = 64;
    return uses <= 1 && may_move(value, may_move_loads, &budget);
}

void ExprSimplifier::define(const std::string &name, const Expr &value) {
    Type type = value.type();
    if (!type.is_int_or_uint() || !type.is_scalar() || type.is_bool())
        return;
    facts_.bound(name, rules_.bounds(value));
    if (!has_no_overflow(type))
        return;
    Linear difference = Linear::from_expr(value);
    if (difference.terms.size() > 2 * max_terms ||
        !difference.add({type, 0, {{make_variable(type, name), 1}}}, -1))
        return;
    facts_.assume_non_negative(difference);
    if (difference.scale(-1))
        facts_.assume_non_negative(difference);
}

Expr ExprSimplifier::simplify(const Expr &e) {
    if (e->op == Op::Variable) {
        const Expr *value = replacements_.find(e->name);
        return value ? *value : e;
    }
    if (e->args.empty() && e->op != Op::Call)
        return e;
    // The operands of a sum that cannot be written as one sum (because of overflow) are visited
    // twice.
    const bool may_meet_again = is_shared(e) || is_sum(e);
    return may_meet_again ? done_(e, [&] { return rewrite(e); }) : rewrite(e);
}

Expr ExprSimplifier::rewrite(const Expr &e) {
    if (e->op == Op::Let)
        return rewrite_let(e);
    if (is_sum(e))
        return rewrite_sum(e);
    return rewrite_operands(e);
}

Expr ExprSimplifier::rewrite_operands(const Expr &e) {
    std::vector<Expr> args;
    args.reserve(e->args.size());
    for (const Expr &arg : e->args)
        args.push_back(arg.defined() ? simplify(arg) : arg);
    return apply(e, args);
}

/// The node `e` with simplified operands.
Expr ExprSimplifier::apply(const Expr &e, const std::vector<Expr> &args) {
    Expr result;
    switch (e->op) {
    case Op::Cast:
        result = rules_.cast(e.type().with_lanes(args[0].type().lanes()), args[0]);
        break;
    case Op::Not:
        result = rules_.logical_not(args[0]);
        break;
    case Op::Select:
        result = rules_.select(args[0], args[1], args[2]);
        break;
    case Op::Ramp:
        result = rules_.ramp(args[0], args[1], e.type().lanes());
        break;
    case Op::Broadcast:
        result = rules_.broadcast(args[0], e.type().lanes());
        break;
    case Op::VectorReduce:
        return rules_.vector_reduce(e, args[0]);
    case Op::Interleave:
        result = rules_.interleave(args);
        break;
    case Op::Load:
        return rules_.load(e, args[0], args[1]);
    case Op::Call:
        return rules_.call(e, args);
    default:
        if (is_binary(e->op))
            result = rules_.binary(e->op, args[0], args[1]);
        else
            result = args[0].same_as(e->args[0]) ? e : with_args(e, args);
    }
    // Unchanged: returns the node itself, so that sharing is preserved.
    bool same =
        result->op == e->op && result.type() == e.type() && result->args.size() == e->args.size();
    for (size_t i = 0; same && i < e->args.size(); i++)
        same = result->args[i].same_as(e->args[i]);
    return same ? e : result;
}

/// A whole sum at once, without recursion into its partial sums.
Expr ExprSimplifier::rewrite_sum(const Expr &e) {
    LinearBuilder builder(e.type());
    std::vector<Linear::Term> work{{e, 1}};
    while (!work.empty()) {
        Linear::Term t = std::move(work.back());
        work.pop_back();
        bool is_root = t.atom.same_as(e);
        if (!is_root && is_shared(t.atom, 1)) {  // t holds one reference
            Expr shared = simplify(t.atom);
            if (count_terms(shared, max_terms + 1) > max_terms)
                builder.add_atom(shared, t.coefficient);
            else
                builder.add(shared, t.coefficient);
        } else if (!builder.take_apart(t, &work)) {
            Expr leaf = is_sum(t.atom) ? rewrite_operands(t.atom) : simplify(t.atom);
            builder.add(leaf, t.coefficient);
        }
    }
    Linear sum;
    Expr result;
    if (builder.finish(&sum))
        result = rules_.sum(sum);
    if (!result.defined())
        return rewrite_operands(e);
    return equal(result, e) ? e : result;
}

Expr ExprSimplifier::rewrite_let(const Expr &e) {
    int uses = uses_of(e.get());
    if (uses == 0 && !has_side_effect(e->value()))
        return simplify(e->body());
    Expr value = simplify(e->value()), body;
    bool replace = is_worth_replacing(value, uses, true);
    with_let(e->name, value, replace, [&] { body = simplify(e->body()); });
    return replace ? body : make_let(e->name, value, body);
}

Expr simplify(const Expr &given, const Facts &facts) {
    if (!given.defined() || given->op == Op::Variable)
        return given;
    Expr e = given;
    LetUses uses = count_let_uses(e, facts);
    if (uses.has_shadowing) {
        e = without_shadowing(e, facts);
        uses = count_let_uses(e, facts);
    }
    Expr result = ExprSimplifier(facts, uses).simplify(e);
    return uses.has_lets ? without_dead_lets(result) : result;
}

Expr simplified_quotient(const Linear &sum, int64_t divisor) {
    const Facts none;
    Rules rules(none);
    const Expr dividend = rules.sum(sum);
    return dividend.defined() ? rules.binary(Op::Div, dividend, make_int(sum.type, divisor))
                              : Expr();
}

bool can_prove(const Expr &condition, const Facts &facts) {
    return is_const(simplify(condition, facts), 1);
}

}  // namespace Pipe::ir
