#include "region/upper_bound.h"

#include <algorithm>

#include "ir/int32.h"
#include "ir/simplify.h"

namespace Pipe::region {

using namespace ir;

namespace {

constexpr int max_steps = 200, max_depth = 10;

class UpperBound {
  public:
    explicit UpperBound(const Variables &variables) : variables_(variables) {}

    std::optional<int64_t> of(Linear sum, int depth = 0) {
        while (without_last_let(sum))
            if (++steps_ > max_steps)
                return std::nullopt;
        if (sum.terms.empty())
            return sum.constant;
        if (depth > max_depth || ++steps_ > max_steps)
            return std::nullopt;
        std::optional<int64_t> best;
        auto consider = [&](std::optional<int64_t> bound) {
            if (bound && (!best || *bound < *best))
                best = bound;
        };
        for (const Linear::Term &term : forks_first(sum)) {
            const Expr &atom = term.atom;
            auto with = [&](const Expr &value) -> std::optional<int64_t> {
                Linear rest = without(sum, term);
                if (!rest.add(Linear::from_expr(value), term.coefficient))
                    return std::nullopt;
                return of(rest, depth + 1);
            };
            auto larger = [&](const Expr &a, const Expr &b) -> std::optional<int64_t> {
                std::optional<int64_t> p = with(a);
                if (!p)
                    return p;
                std::optional<int64_t> q = with(b);
                return q ? std::max(*p, *q) : q;
            };
            bool up = term.coefficient > 0;
            if (atom->op == (up ? Op::Min : Op::Max)) {
                consider(with(atom->args[0]));
                consider(with(atom->args[1]));
            } else if (atom->op == (up ? Op::Max : Op::Min)) {
                consider(larger(atom->args[0], atom->args[1]));
            } else if (atom->op == Op::Select) {
                consider(larger(atom->args[1], atom->args[2]));
            } else if (atom->op == Op::Div) {
                consider(quotients(sum, term, depth));
                if (!best)
                    for (const Expr &value : looser_quotients(atom, up))
                        consider(with(value));
            } else if (atom->op == Op::Mod) {
                int64_t m = 0;
                if (as_const_int(atom->args[1], &m) && m > 0)
                    consider(with(int32(up ? m - 1 : 0)));
            }
            if (best)
                return best;
        }
        return over_a_loop(sum, depth);
    }

  private:
    /// The terms in order of replacement. Terms with several cases come first, so that each case
    /// may choose the best operand of the other terms.
    std::vector<Linear::Term> forks_first(const Linear &sum) const {
        std::vector<Linear::Term> terms = sum.terms;
        if (terms.size() > 1)
            std::stable_partition(terms.begin(), terms.end(), [&](const Linear::Term &term) {
                return forks(term.atom, term.coefficient > 0, 3);
            });
        return terms;
    }

    /// Whether a max() or select(), of which both operands count, occurs in `e`: a min() in what is
    /// subtracted.
    bool forks(const Expr &e, bool up, int levels) const {
        auto inside = [&](size_t i, bool same) {
            return levels > 0 && forks(e->args[i], same ? up : !up, levels - 1);
        };
        switch (e->op) {
        case Op::Variable: {
            const Expr let = levels > 0 ? variables_.let_of(e->name).first : Expr();
            return let.defined() && forks(let, up, levels - 1);
        }
        case Op::Select:
            return true;
        case Op::Min:
        case Op::Max:
            return e->op == (up ? Op::Max : Op::Min) || inside(0, true) || inside(1, true);
        case Op::Add:
            return inside(0, true) || inside(1, true);
        case Op::Sub:
            return inside(0, true) || inside(1, false);
        default:
            return false;
        }
    }

    /// The bound over all iterations of a loop. Used last: other atoms may contain the same loop
    /// variable and cancel it.
    std::optional<int64_t> over_a_loop(const Linear &sum, int depth) {
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
            if (std::optional<int64_t> bound = of(rest, depth + 1))
                return bound;
        }
        return std::nullopt;
    }

    /// The quotient with an operand in place of a min() or max() in its numerator, where that makes it
    /// larger (`up`) or smaller: of (x + min(n, 32*b + 32))/2, what is 16*b + (x + 32)/2.
    static std::vector<Expr> looser_quotients(const Expr &quotient, bool up) {
        std::vector<Expr> found;
        int64_t d = 0;
        if (!as_const_int(quotient->args[1], &d) || d <= 0)
            return found;
        const Linear numerator = Linear::from_expr(quotient->args[0]);
        for (const Linear::Term &t : numerator.terms) {
            if (t.atom->op != ((t.coefficient > 0) == up ? Op::Min : Op::Max))
                continue;
            for (const Expr &operand : t.atom->args) {
                Linear looser = without(numerator, t);
                if (looser.add(Linear::from_expr(operand), t.coefficient))
                    found.push_back(simplify(div(looser.to_expr(), quotient->args[1])));
            }
        }
        return found;
    }

    /// k*(a/d) - k*(b/d) <= k*ceil((a - b)/d)
    std::optional<int64_t> quotients(const Linear &sum, const Linear::Term &term, int depth) {
        int64_t d = 0;
        if (!as_const_int(term.atom->args[1], &d) || d <= 0)
            return std::nullopt;
        for (const Linear::Term &other : sum.terms) {
            int64_t d2 = 0;
            if (other.atom->op != Op::Div || other.coefficient != -term.coefficient ||
                !as_const_int(other.atom->args[1], &d2) || d2 != d)
                continue;
            const Linear::Term &plus = term.coefficient > 0 ? term : other;
            const Linear::Term &minus = term.coefficient > 0 ? other : term;
            Linear difference = Linear::from_expr(plus.atom->args[0]);
            if (!difference.add(Linear::from_expr(minus.atom->args[0]), -1))
                continue;
            std::optional<int64_t> gap = of(difference, depth + 1);
            if (!gap)
                continue;
            Linear rest = without(without(sum, plus), minus);
            const int64_t steps = *gap / d + (*gap % d > 0);  // rounded up
            if (!rest.add(Linear::from_constant(sum.type, steps), plus.coefficient))
                continue;
            if (std::optional<int64_t> bound = of(rest, depth + 1))
                return bound;
        }
        return std::nullopt;
    }

    /// Replaces the most recent let: earlier ones may occur in its value.
    bool without_last_let(Linear &sum) {
        int last = -1;
        Expr value;
        const Linear::Term *replaced = nullptr;
        for (const Linear::Term &term : sum.terms) {
            if (term.atom->op != Op::Variable)
                continue;
            auto [let, order] = variables_.let_of(term.atom->name);
            if (!let.defined() || order <= last)
                continue;
            last = order, value = let, replaced = &term;
        }
        if (last < 0)
            return false;
        Linear now = without(sum, *replaced);
        if (!now.add(Linear::from_expr(value), replaced->coefficient))
            return false;
        sum = std::move(now);
        return true;
    }

    static Linear without(Linear sum, const Linear::Term &term) {
        sum.add(Linear::from_expr(term.atom), -term.coefficient);
        return sum;
    }

    const Variables &variables_;
    int steps_ = 0;
};

}  // namespace

std::optional<int64_t> upper_bound(const Linear &sum, const Variables &variables) {
    return UpperBound(variables).of(sum);
}

}  // namespace Pipe::region
