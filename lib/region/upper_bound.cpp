#include "region/upper_bound.h"

#include <algorithm>
#include <climits>
#include <map>
#include <utility>

#include "ir/equal.h"
#include "ir/int32.h"
#include "ir/simplify.h"
#include "ir/substitute.h"

namespace Pipe::region {

using namespace ir;

namespace {

constexpr int max_steps = 1000;

/// By their terms alone.
struct TermsLess {
    bool operator()(const Linear &a, const Linear &b) const {
        auto less = [](const Linear::Term &x, const Linear::Term &y) {
            const int order = compare(x.atom, y.atom);
            return order != 0 ? order < 0 : x.coefficient < y.coefficient;
        };
        return std::lexicographical_compare(a.terms.begin(), a.terms.end(), b.terms.begin(),
                                            b.terms.end(), less);
    }
};

std::optional<int64_t> smaller(std::optional<int64_t> a, std::optional<int64_t> b) {
    return a && b ? std::min(*a, *b) : a ? a : b;
}

class UpperBound {
  public:
    /// \param oldest lets before that one stay as they are
    UpperBound(const Variables &variables, int oldest) : variables_(variables), oldest_(oldest) {}

    /// What different cases leave over is often the same: it is looked at once.
    std::optional<int64_t> of(Linear sum) {
        const int64_t constant = std::exchange(sum.constant, 0);
        if (sum.terms.empty())
            return constant;
        auto known = known_.find(sum);
        if (known == known_.end()) {
            if (++steps_ > max_steps)
                return std::nullopt;
            const std::optional<int64_t> bound = of_terms(sum);
            if (!bound && steps_ > max_steps)
                return std::nullopt;
            known = known_.emplace(std::move(sum), bound).first;
        }
        int64_t result = 0;
        if (!known->second || __builtin_add_overflow(*known->second, constant, &result))
            return std::nullopt;
        return result;
    }

  private:
    /// Where there are several cases, each of them may choose the best operand of the other terms: so those are
    /// distinguished first. Choices may depend on what lets stand for, and lets may cancel before that: both orders
    /// are tried.
    std::optional<int64_t> of_terms(const Linear &sum) {
        for (const Linear::Term &term : sum.terms)
            if (has_cases(term))
                return of_cases(sum, term);
        std::optional<int64_t> best;
        for (const bool with_cases : {true, false})
            for (const Linear::Term &term : sum.terms)
                if (!best && has_cases_inside(term.atom, term.coefficient > 0) == with_cases)
                    best = of_choices(sum, term);
        best = smaller(best, without_last_let(sum));
        return best ? best : over_a_loop(sum);
    }

    /// A max() or select(), of which both operands count; of what is subtracted, a min().
    static bool has_cases(const Linear::Term &term) {
        const Op op = term.atom->op;
        return op == Op::Select || op == (term.coefficient > 0 ? Op::Max : Op::Min);
    }

    /// Whether choosing an operand may leave cases.
    static bool has_cases_inside(const Expr &e, bool up) {
        switch (e->op) {
        case Op::Select:
            return true;
        case Op::Min:
        case Op::Max:
            return e->op == (up ? Op::Max : Op::Min) || has_cases_inside(e->a(), up) ||
                   has_cases_inside(e->b(), up);
        case Op::Add:
            return has_cases_inside(e->a(), up) || has_cases_inside(e->b(), up);
        case Op::Sub:
            return has_cases_inside(e->a(), up) || has_cases_inside(e->b(), !up);
        default:
            return false;
        }
    }

    std::optional<int64_t> of_cases(const Linear &sum, const Linear::Term &term) {
        const size_t first = term.atom->op == Op::Select ? 1 : 0;
        const std::optional<int64_t> a = with(sum, term, term.atom->args[first]);
        const std::optional<int64_t> b = a ? with(sum, term, term.atom->args[first + 1]) : a;
        return b ? std::max(*a, *b) : b;
    }

    /// Any of the operands that may stand in its place is right.
    std::optional<int64_t> of_choices(const Linear &sum, const Linear::Term &term) {
        const Expr &atom = term.atom;
        const bool up = term.coefficient > 0;
        std::optional<int64_t> best;
        int64_t m = 0;
        if (atom->op == (up ? Op::Min : Op::Max)) {
            for (const Expr &operand : atom->args)
                best = smaller(best, with(sum, term, operand));
        } else if (atom->op == Op::Div) {
            best = quotients(sum, term);
            if (!best)
                for (const Expr &value : looser_quotients(atom, up))
                    best = smaller(best, with(sum, term, value));
        } else if (atom->op == Op::Mod && as_const_int(atom->b(), &m) && m > 0) {
            best = with(sum, term, make_int(atom.type(), up ? m - 1 : 0));
        }
        return best;
    }

    std::optional<int64_t> with(const Linear &sum, const Linear::Term &term, const Expr &value) {
        Linear rest = without(sum, term);
        return rest.add(Linear::from_expr(value), term.coefficient) ? of(std::move(rest))
                                                                    : std::nullopt;
    }

    /// The bound over all iterations of a loop. Used last: other atoms may contain the same loop
    /// variable and cancel it.
    std::optional<int64_t> over_a_loop(const Linear &sum) {
        for (const Linear::Term &term : sum.terms) {
            if (term.atom->op != Op::Variable)
                continue;
            std::optional<int64_t> extent = variables_.extent_of(term.atom->name);
            if (!extent)
                continue;
            Linear rest = without(sum, term);
            const Linear last = Linear::from_constant(sum.type, std::max<int64_t>(*extent - 1, 0));
            if (term.coefficient > 0 && !rest.add(last, term.coefficient))
                continue;
            if (std::optional<int64_t> bound = of(std::move(rest)))
                return bound;
        }
        return std::nullopt;
    }

    /// The quotient with an operand in place of a min() or max() in its numerator, where that makes it
    /// larger (`up`) or smaller: of (x + min(n, 32*b + 32))/2, what is 16*b + (x + 32)/2.
    static std::vector<Expr> looser_quotients(const Expr &quotient, bool up) {
        std::vector<Expr> found;
        int64_t d = 0;
        if (!as_const_int(quotient->b(), &d) || d <= 0)
            return found;
        const Linear numerator = Linear::from_expr(quotient->a());
        for (const Linear::Term &t : numerator.terms) {
            if (t.atom->op != ((t.coefficient > 0) == up ? Op::Min : Op::Max))
                continue;
            for (const Expr &operand : t.atom->args) {
                Linear looser = without(numerator, t);
                if (!looser.add(Linear::from_expr(operand), t.coefficient))
                    continue;
                if (Expr simple = simplified_quotient(looser, d); simple.defined())
                    found.push_back(std::move(simple));
            }
        }
        return found;
    }

    /// k*(a/d) - k*(b/d) <= k*ceil((a - b)/d)
    std::optional<int64_t> quotients(const Linear &sum, const Linear::Term &term) {
        int64_t d = 0;
        if (!as_const_int(term.atom->b(), &d) || d <= 0)
            return std::nullopt;
        for (const Linear::Term &other : sum.terms) {
            int64_t d2 = 0;
            if (other.atom->op != Op::Div || other.coefficient != -term.coefficient ||
                !as_const_int(other.atom->b(), &d2) || d2 != d)
                continue;
            const Linear::Term &plus = term.coefficient > 0 ? term : other;
            const Linear::Term &minus = term.coefficient > 0 ? other : term;
            Linear difference = Linear::from_expr(plus.atom->a());
            if (!difference.add(Linear::from_expr(minus.atom->a()), -1))
                continue;
            std::optional<int64_t> gap = of(std::move(difference));
            if (!gap)
                continue;
            Linear rest = without(without(sum, plus), minus);
            const int64_t steps = *gap / d + (*gap % d > 0);  // rounded up
            if (!rest.add(Linear::from_constant(sum.type, steps), plus.coefficient))
                continue;
            if (std::optional<int64_t> bound = of(std::move(rest)))
                return bound;
        }
        return std::nullopt;
    }

    /// With the value of the most recent let: earlier ones may occur in it.
    std::optional<int64_t> without_last_let(const Linear &sum) {
        int last = -1;
        Expr value;
        const Linear::Term *replaced = nullptr;
        for (const Linear::Term &term : sum.terms) {
            if (term.atom->op != Op::Variable)
                continue;
            auto [let, order] = variables_.let_of(term.atom->name);
            if (let.defined() && order > last && order >= oldest_)
                last = order, value = let, replaced = &term;
        }
        return replaced ? with(sum, *replaced, value) : std::nullopt;
    }

    static Linear without(Linear sum, const Linear::Term &term) {
        sum.add(Linear::from_expr(term.atom), -term.coefficient);
        return sum;
    }

    const Variables &variables_;
    const int oldest_;
    std::map<Linear, std::optional<int64_t>, TermsLess> known_;
    int steps_ = 0;
};

/// The number of lets before the most recent one in the sum; -1: there is none.
int newest_let(const Linear &sum, const Variables &variables) {
    int newest = -1;
    for (const Linear::Term &term : sum.terms)
        for (const std::string &name : free_vars(term.atom))
            if (const auto [let, order] = variables.let_of(name); let.defined())
                newest = std::max(newest, order);
    return newest;
}

}  // namespace

std::optional<int64_t> upper_bound(const Linear &sum, const Variables &variables) {
    // What is computed at a time is usually bounded by how the loops around it move, whatever the sizes are that
    // older lets compute.
    const int newest = newest_let(sum, variables);
    for (int lets : {0, 16, INT_MAX}) {
        const int oldest = lets > newest ? 0 : newest + 1 - lets;
        if (std::optional<int64_t> bound = UpperBound(variables, oldest).of(sum))
            return bound;
        if (oldest == 0)
            break;
    }
    return std::nullopt;
}

}  // namespace Pipe::region
