#include "region/at_most.h"

#include "ir/equal.h"
#include "ir/linear.h"
#include "region/conditions.h"

namespace Pipe::region {

using namespace ir;

namespace {

/// Proves a <= b for sums of min and max, for example that the clamped ends of a range are at most
/// the unclamped ones, if the same clamp surrounds both.
class AtMost {
  public:
    bool operator()(const Expr &a, const Expr &b) {
        if (!index_type(a.type()) || --steps_ < 0)
            return false;
        Linear difference = Linear::from_expr(a);
        if (!difference.add(Linear::from_expr(b), -1))
            return false;
        if (difference.is_constant())
            return difference.constant <= 0;
        return of_choices(a, b) || of_quotients(difference);
    }

  private:
    /// p / n - q / n - .. <= 0
    bool of_quotients(const Linear &difference) {
        const auto &terms = difference.terms;
        if (terms.size() != 2 || terms[0].coefficient != -terms[1].coefficient ||
            difference.constant > 0)
            return false;
        const bool first = terms[0].coefficient > 0;
        const Expr &p = terms[first ? 0 : 1].atom, &q = terms[first ? 1 : 0].atom;
        int64_t divisor = 0;
        return p->op == Op::Div && q->op == Op::Div && as_const_int(p->b(), &divisor) &&
               divisor > 0 && equal(p->b(), q->b()) && (*this)(p->a(), q->a());
    }

    bool of_choices(const Expr &left, const Expr &right) {
        AtMost &at_most = *this;
        Expr a = opened(left), b = opened(right);
        // What is the same on both sides is not taken apart: along a chain, that would double with each step.
        auto below = [](const Expr &p, const Expr &q) {
            const std::optional<int64_t> difference = constant_difference(p, q);
            return difference && *difference <= 0;
        };
        if (a->op == Op::Min && (below(a->a(), right) || below(a->b(), right)))
            return true;
        if (b->op == Op::Max && (below(left, b->a()) || below(left, b->b())))
            return true;
        if (a->op == Op::Max)
            return at_most(a->a(), b) && at_most(a->b(), b);
        if (b->op == Op::Min)
            return at_most(a, b->a()) && at_most(a, b->b());
        if (a->op == Op::Min) {
            for (int i : {0, 1}) {
                Expr max = opened(a->args[static_cast<size_t>(i)]);
                const Expr &other = a->args[static_cast<size_t>(1 - i)];
                if (max->op == Op::Max)  // min(max(p, q), r) = max(min(p, r), min(q, r))
                    return at_most(ir::min(max->a(), other), b) &&
                           at_most(ir::min(max->b(), other), b);
            }
            if (at_most(a->a(), b) || at_most(a->b(), b))
                return true;
        }
        return b->op == Op::Max && (at_most(a, b->a()) || at_most(a, b->b()));
    }

    /// min(p, q) * k + r as min(p * k + r, q * k + r), and max likewise; k < 0 exchanges min and
    /// max.
    static Expr opened(const Expr &e) {
        if (e->op == Op::Min || e->op == Op::Max)
            return e;
        Linear sum = Linear::from_expr(e);
        for (const Linear::Term &t : sum.terms) {
            if (t.atom->op != Op::Min && t.atom->op != Op::Max)
                continue;
            Linear rest = sum;
            if (!rest.add(Linear::from_expr(t.atom), -t.coefficient) || !rest.representable())
                return e;
            auto operand = [&](size_t i) {
                return add(mul(t.atom->args[i], make_int(e.type(), t.coefficient)), rest.to_expr());
            };
            return (t.atom->op == Op::Min) == (t.coefficient > 0) ? ir::min(operand(0), operand(1))
                                                                  : ir::max(operand(0), operand(1));
        }
        return e;
    }

    int steps_ = 200;
};

}  // namespace

bool at_most(const Expr &a, const Expr &b) {
    return AtMost()(a, b);
}

}  // namespace Pipe::region
