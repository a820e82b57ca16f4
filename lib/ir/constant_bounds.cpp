#include "ir/constant_bounds.h"

#include <algorithm>
#include <cmath>

#include "ir/integer_ops.h"
#include "ir/intrinsics.h"
#include "support/integers.h"

namespace Pipe::ir {
namespace {

using Interval = ConstantInterval;
using Term = Linear::Term;

Expr strip_markers(const Expr &e) {
    return is_marker(*e.get()) ? strip_markers(e->args[0]) : e;
}

/// The result of an operation whose value is arbitrary if it overflows its type.
Interval unless_wrapped(Type type, const Interval &result) {
    if (has_no_overflow(type))
        return result;
    bool wraps = !result.within(Interval::of_type(type)) || (type.bits() == 64 && !result.has_hi());
    return wraps ? Interval::everything() : result;
}

/// One query. The budget limits the number of nodes and case splits that are examined.
class Query {
  public:
    explicit Query(const Facts &facts) : facts_(facts) {}

    Interval of(const Expr &e, int depth = 0);
    Interval of(const Linear &sum, int effort = max_effort, int depth = 0);

  private:
    static constexpr int max_effort = 3;  ///< maximum number of successive rewritings of a sum

    Interval of_node(const Expr &e, int depth);
    Interval of_arithmetic(const Expr &e, int depth);
    Interval of_cast(const Expr &e, int depth);
    Interval of_call(const Expr &e, int depth);

    Interval term_by_term(const Linear &sum, int depth);
    Interval by_relations(const Linear &sum, int effort, int depth);
    Interval by_cases(const Linear &sum, int effort, int depth);
    Interval by_remainder(const Linear &sum, int effort, int depth);

    const Facts &facts_;
    int budget_ = 150;
};

Interval Query::of(const Expr &e, int depth) {
    Interval range = Interval::of_type(e.type());
    if (--budget_ < 0 || depth > 12)
        return range;
    Interval result = intersection(of_node(e, depth), range);
    return result.empty() ? range : result;
}

Interval Query::of_node(const Expr &e, int depth) {
    switch (e->op) {
    case Op::IntImm:
        return Interval::single(e->int_value);
    case Op::UIntImm:
        return e->uint_value <= INT64_MAX ? Interval::single(e->int_value) : Interval::everything();
    case Op::Variable: {
        auto found = facts_.find(e->name);
        return found ? *found : Interval::everything();
    }
    case Op::Broadcast:
    case Op::Slice:
        return of(e->value(), depth + 1);
    case Op::Ramp:
        return unless_wrapped(e.type(),
                              of(e->base(), depth + 1) +
                                  of(e->stride(), depth + 1) * Interval{0, e.type().lanes() - 1});
    case Op::Cast:
        return of_cast(e, depth);
    case Op::Interleave: {
        Interval all = of(e->args[0], depth + 1);
        for (size_t i = 1; i < e->args.size(); i++)
            all = hull(all, of(e->args[i], depth + 1));
        return all;
    }
    case Op::Select:
        return hull(of(e->if_true(), depth + 1), of(e->if_false(), depth + 1));
    case Op::Call:
        return of_call(e, depth);
    case Op::VectorReduce:
        return e->reduce_op == Op::Add || e->reduce_op == Op::Mul ? Interval::everything()
                                                                  : of(e->value(), depth + 1);
    case Op::Add:
    case Op::Sub:
    case Op::Mul:
        if (has_no_overflow(e.type())) {
            // A product of two atoms is its own linear form.
            Linear sum = Linear::from_expr(e);
            if (sum.terms.size() != 1 || sum.terms[0].atom->op != Op::Mul)
                return of(sum, max_effort, depth);
        }
        return of_arithmetic(e, depth);
    case Op::Div:
    case Op::Mod:
    case Op::Min:
    case Op::Max:
        return of_arithmetic(e, depth);
    default:
        return Interval::everything();
    }
}

Interval Query::of_arithmetic(const Expr &e, int depth) {
    Interval a = of(e->a(), depth + 1), b = of(e->b(), depth + 1), result;
    switch (e->op) {
    case Op::Add:
        result = a + b;
        break;
    case Op::Sub:
        result = a - b;
        break;
    case Op::Mul:
        result = a * b;
        break;
    case Op::Div:
        result = quotient(a, b);
        break;
    case Op::Mod:
        result = remainder(a, b);
        break;
    case Op::Min:
        result = smaller(a, b);
        break;
    case Op::Max:
        result = larger(a, b);
        break;
    default:
        break;
    }
    return unless_wrapped(e.type(), result);
}

Interval Query::of_cast(const Expr &e, int depth) {
    Type from = e->value().type();
    if (e.type().is_bool() || !from.is_int_or_uint())
        return Interval::everything();
    Interval value = of(e->value(), depth + 1);
    // A value that the new type cannot represent wraps (also for int32 and int64).
    if (e.type().bits() == 64) {
        bool fits =
            e.type().is_int() ? from.is_int() || from.bits() < 64 || value.has_hi() : value.lo >= 0;
        return fits ? value : Interval::everything();
    }
    return value.within({e.type().min_int(), e.type().max_int()}) ? value : Interval::everything();
}

Interval Query::of_call(const Expr &e, int depth) {
    if (e->call_kind == CallKind::Extern &&
        (e->name == extern_function::print || e->name == extern_function::require))
        return of(e->args[1], depth + 1);
    if (e->call_kind != CallKind::Intrinsic)
        return Interval::everything();
    if (is_integer_op(e)) {
        std::vector<Interval> args;
        for (const Expr &arg : e->args)
            args.push_back(of(arg, depth + 1));
        return integer_op_range(e, args);
    }
    if (e->name == intrinsic::likely)
        return of(e->args[0], depth + 1);
    if (e->name == intrinsic::promise_clamped) {
        Interval lo = of(e->args[1], depth + 1), hi = of(e->args[2], depth + 1);
        return intersection(of(e->args[0], depth + 1), {lo.lo, hi.hi});
    }
    if (e->name == intrinsic::if_then_else)
        return hull(of(e->args[1], depth + 1), of(e->args[2], depth + 1));
    if (e->name == intrinsic::abs && e->args[0].type().is_int()) {
        Interval a = of(e->args[0], depth + 1);
        if (!a.has_lo() || !a.has_hi())
            return {0, Interval::plus_infinity};
        int64_t least = a.contains(0) ? 0 : std::min(std::abs(a.lo), std::abs(a.hi));
        return {least, std::max(std::abs(a.lo), std::abs(a.hi))};
    }
    if (e->name == intrinsic::absd && e->args[0].type().is_int())
        return {0, Interval::plus_infinity};
    return Interval::everything();
}

/// Replaces the vector atoms that are ramps or broadcasts by their first lane; the contributions of
/// the other lanes go to `lanes`. The atoms of the result may have a different type than the sum,
/// which is harmless for bounds.
Linear to_first_lane(const Linear &sum, Interval *lanes) {
    *lanes = Interval::single(0);
    Linear first{sum.type.element_of(), sum.constant, {}}, stride = first;
    stride.constant = 0;
    for (const Term &t : sum.terms) {
        Linear rest{first.type, 0, {t}};
        bool ok = true;
        if (t.atom->op == Op::Broadcast || t.atom->op == Op::Ramp)
            ok = first.add(Linear::from_expr(t.atom->args[0]), t.coefficient);
        else
            ok = first.add(rest);
        if (t.atom->op == Op::Ramp)
            ok &= stride.add(Linear::from_expr(t.atom->stride()), t.coefficient);
        if (!ok)
            return sum;
    }
    if (!stride.is_constant())
        return sum;
    *lanes = Interval::single(stride.constant) * Interval{0, sum.type.lanes() - 1};
    return first;
}

/// int64(a) + int64(b), because facts are about a and b.
Linear without_casts(const Linear &sum) {
    auto is_widened = [](const Term &t) {
        return t.atom->op == Op::Cast && has_no_overflow(t.atom->value().type());
    };
    if (sum.type.bits() != 64 || !std::all_of(sum.terms.begin(), sum.terms.end(), is_widened))
        return sum;
    Linear result{sum.type, sum.constant, {}};
    for (const Term &t : sum.terms) {
        Linear narrow = Linear::from_expr(t.atom->value());
        if (!result.add(narrow, t.coefficient))
            return sum;
    }
    return result;
}

Interval Query::of(const Linear &given, int effort, int depth) {
    auto refine = [](Interval &result, const Interval &better) {
        Interval both = intersection(result, better);
        if (!both.empty())
            result = both;
    };
    if (given.type.is_vector()) {
        Interval lanes;
        Linear first = to_first_lane(given, &lanes);
        Interval result =
            first.type.is_vector() ? term_by_term(given, depth) : of(first, effort, depth) + lanes;
        // In a minimum of ramps, the lanes of its operands combine with the lanes of the other
        // terms.
        if (effort > 0 && budget_ > 0)
            refine(result, by_cases(given, effort, depth));
        return result;
    }
    Linear sum = without_casts(given);
    Interval result = term_by_term(sum, depth);
    if (effort == 0 || budget_ <= 0 || sum.is_constant() || result.is_single())
        return result;
    refine(result, by_relations(sum, effort, depth));
    if (sum.terms.size() > 1) {
        refine(result, by_remainder(sum, effort, depth));
        refine(result, by_cases(sum, effort, depth));
    }
    return result;
}

Interval Query::term_by_term(const Linear &sum, int depth) {
    Interval result = Interval::single(sum.constant);
    for (const Term &t : sum.terms) {
        result = result + of(t.atom, depth + 1) * Interval::single(t.coefficient);
        if (!result.has_lo() && !result.has_hi())
            break;
    }
    return result;
}

/// The multiple of the relation that cancels one of the sum's terms; 0 if there is none.
int64_t cancelling_factor(const Linear &sum, const Linear &relation) {
    for (const Term &t : relation.terms) {
        int64_t c = sum.coefficient(t.atom);
        if (c == 0 || c == INT64_MIN)
            continue;
        return c % t.coefficient == 0 ? c / t.coefficient : 0;
    }
    return 0;
}

/// Subtracts a multiple of a known relation, so that terms cancel.
Interval Query::by_relations(const Linear &sum, int effort, int depth) {
    Interval result;
    // A remainder with as many terms is tried once; a longer one is not useful.
    size_t longest = sum.terms.size() - (effort < max_effort ? 1 : 0);
    facts_.for_each_relation([&](const Facts::Relation &r) {
        if (--budget_ < 0)
            return true;
        const int64_t factor = cancelling_factor(sum, r.sum);
        if (factor == 0)
            return false;
        Linear rest = sum;
        if (!rest.add(r.sum, -factor) || rest.terms.size() > longest)
            return false;
        Interval better = intersection(result, of(rest, effort - 1, depth + 1) +
                                                   r.bounds * Interval::single(factor));
        if (!better.empty())
            result = better;
        return false;
    });
    return result;
}

/// c * (y / c) = y - y % c.
Interval Query::by_remainder(const Linear &sum, int effort, int depth) {
    for (const Term &t : sum.terms) {
        int64_t divisor = 0;
        if (t.atom->op != Op::Div || !as_const_int(t.atom->b(), &divisor) || divisor <= 0 ||
            t.coefficient % divisor != 0 || !has_no_overflow(t.atom.type()))
            continue;
        int64_t factor = t.coefficient / divisor;
        Linear rest = sum;
        if (factor == INT64_MIN || !rest.add({sum.type, 0, {{t.atom, -t.coefficient}}}) ||
            !rest.add(Linear::from_expr(t.atom->a()), factor) ||
            rest.terms.size() >= sum.terms.size())
            continue;
        return of(rest, effort - 1, depth + 1) +
               Interval{0, divisor - 1} * Interval::single(-factor);
    }
    return {};
}

/// Whether an operand of the atom is also a term of the sum, so that they can cancel.
bool has_operand_in(const Expr &atom, const Linear &sum) {
    for (const Expr &arg : atom->args)
        if (arg.type() == atom.type() && sum.coefficient(arg) != 0)
            return true;
    return false;
}

/// The minimum, maximum or select that is best split into cases; null if there is none.
const Term *find_cases(const Linear &sum) {
    const Term *found = nullptr;
    for (const Term &t : sum.terms) {
        Expr atom = strip_markers(t.atom);
        bool has_cases = atom->op == Op::Min || atom->op == Op::Max || atom->op == Op::Select;
        if (!has_cases || t.coefficient == INT64_MIN || !has_no_overflow(atom.type()))
            continue;
        if (has_operand_in(atom, sum))
            return &t;
        if (!found)
            found = &t;
    }
    return found;
}

/// r + k * min(p, q) = min(r + k * p, r + k * q) for k > 0, the maximum for k < 0.
Interval Query::by_cases(const Linear &sum, int effort, int depth) {
    const Term *t = find_cases(sum);
    if (!t)
        return {};
    Expr atom = strip_markers(t->atom);
    bool is_select = atom->op == Op::Select;
    Interval cases[2];
    for (int i = 0; i < 2; i++) {
        Linear rest = sum;
        if (!rest.add({sum.type, 0, {{t->atom, 1}}}, -t->coefficient) ||
            !rest.add(Linear::from_expr(strip_markers(atom->args[i + is_select])), t->coefficient))
            return {};
        cases[i] = of(rest, effort - 1, depth + 1);
    }
    const auto &[p, q] = cases;
    if (is_select)
        return hull(p, q);
    if ((atom->op == Op::Min) == (t->coefficient > 0))
        return smaller(p, q);
    return larger(p, q);
}

}  // namespace

Interval constant_bounds(const Expr &e, const Facts &facts) {
    return Query(facts).of(e);
}

Interval constant_bounds(const Linear &sum, const Facts &facts) {
    return Query(facts).of(sum);
}

}  // namespace Pipe::ir
