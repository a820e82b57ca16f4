#include "ir/trend.h"

#include <algorithm>
#include <numeric>
#include <unordered_map>
#include <unordered_set>

#include "ir/equal.h"
#include "ir/int32.h"
#include "ir/linear.h"
#include "ir/simplify.h"
#include "ir/substitute.h"
#include "ir/visit.h"

namespace Pipe::ir {

namespace {

/// Limit of the remainders and quotients that a staircase function may contain.
constexpr int64_t longest_period = 32;
/// Limit of the staircase functions analyzed per expression.
constexpr int most_staircases = 64;

/// Contains a blank, so it differs from all names of a program.
const std::string step_name = "the step", period_name = "the period";

Trend opposite(Trend t) {
    return t == Trend::Up ? Trend::Down : t == Trend::Down ? Trend::Up : t;
}

Trend both(Trend a, Trend b) {
    if (a == Trend::Constant)
        return b;
    if (b == Trend::Constant || a == b)
        return a;
    return Trend::Unknown;
}

bool same_terms(const Linear &a, const Linear &b) {
    return std::equal(a.terms.begin(), a.terms.end(), b.terms.begin(), b.terms.end(),
                      [](const Linear::Term &s, const Linear::Term &t) {
                          return s.coefficient == t.coefficient && equal(s.atom, t.atom);
                      });
}

/// Replaces sums that differ from `step` by a constant by the variable `step_name` plus a constant.
class InSteps : public GraphMutator {
  public:
    explicit InSteps(const Linear &step) : step_(step) {}

  protected:
    Expr rewrite(const Expr &e) override {
        if (e.type() == Int(32) && e->op != Op::IntImm) {
            const Linear sum = Linear::from_expr(e);
            if (same_terms(sum, step_))
                return add(make_variable(Int(32), step_name), int32(sum.constant));
        }
        return GraphMutator::rewrite(e);
    }

  private:
    const Linear &step_;
};

/// The period of an expression, up to a constant increment, in steps; 0 if unknown, or longer than
/// `longest_period`. `moves`: whether a step changes it at all.
class Period {
  public:
    struct Answer {
        bool moves = false;
        int64_t period = 1;
    };

    Answer of(const Expr &e) {
        auto known = known_.find(e.get());
        if (known != known_.end())
            return known->second;
        Answer answer = compute(e);
        if (answer.period > longest_period)
            answer.period = 0;
        return known_[e.get()] = answer;
    }

  private:
    Answer compute(const Expr &e) {
        Answer all{e->op == Op::Variable && e->name == step_name, 1};
        for (const Expr &arg : e->args) {
            if (!arg.defined())
                continue;
            const Answer one = of(arg);
            all.moves |= one.moves;
            all.period = all.period && one.period ? std::lcm(all.period, one.period) : 0;
        }
        int64_t divisor = 0;
        if (!all.moves || e->args.empty())
            return all;
        switch (e->op) {
        case Op::Add:
        case Op::Sub:
        case Op::Mul:
        case Op::Min:
        case Op::Max:
            return all;
        case Op::Div:
        case Op::Mod:
            if (as_const_int(e->b(), &divisor) && divisor >= 1 && divisor <= longest_period)
                return {true, all.period * divisor};
            [[fallthrough]];
        default:
            return {true, 0};
        }
    }

    std::unordered_map<const ExprNode *, Answer> known_;
};

/// Whether one expression is nowhere above another: splits minima and maxima on both sides and
/// compares the remaining terms. False means "not proven", also if the limit of queries is reached.
class NowhereAbove {
  public:
    bool operator()(const Expr &a, const Expr &b) { return holds(a, b, 0); }

  private:
    /// a <= b + more.
    bool holds(Expr a, Expr b, int64_t more) {
        if (++steps_ > most_steps)
            return false;
        more += without_constant(&b) - without_constant(&a);
        if (!Int(32).can_represent(more))
            return false;
        auto left = [&](size_t i) { return holds(a->args[i], b, more); };
        auto right = [&](size_t i) { return holds(a, b->args[i], more); };
        if (a->op == Op::Max)
            return left(0) && left(1);
        if (b->op == Op::Min)
            return right(0) && right(1);
        return (a->op == Op::Min && (left(0) || left(1))) ||
               (b->op == Op::Max && (right(0) || right(1))) ||
               can_prove(make_binary(Op::LE, a, add(b, int32(more))));
    }

    /// Separates a constant from a minimum or maximum.
    static int64_t without_constant(Expr *e) {
        const Linear sum = Linear::from_expr(*e);
        if (sum.terms.size() != 1 || sum.terms[0].coefficient != 1)
            return 0;
        const Expr atom = sum.terms[0].atom;
        if (atom->op != Op::Min && atom->op != Op::Max)
            return 0;
        *e = atom;
        return sum.constant;
    }

    static constexpr int most_steps = 4000;
    int steps_ = 0;
};

/// The trends of expressions when one variable increases. Shared nodes are analyzed once.
class Trends {
  public:
    explicit Trends(const std::string &var) : var_(var) {}

    Trend of(const Expr &e) {
        auto known = known_.find(e.get());
        if (known != known_.end())
            return known->second;
        Trend t = by_operands(e);
        if (t == Trend::Unknown)
            t = as_staircase(e);
        return known_[e.get()] = t;
    }

  private:
    Trend by_operands(const Expr &e) {
        int64_t factor = 0;
        switch (e->op) {
        case Op::Variable:
            return e->name == var_ ? Trend::Up : Trend::Constant;
        case Op::Add:
            return both(of(e->a()), of(e->b()));
        case Op::Min:
        case Op::Max: {
            Trend a = of(e->a()), b = of(e->b());
            bool apart = (a == Trend::Up && b == Trend::Down) ||
                         (a == Trend::Down && b == Trend::Up) || a == Trend::BothWays ||
                         b == Trend::BothWays;
            return apart ? Trend::BothWays : both(a, b);
        }
        case Op::Sub:
            return both(of(e->a()), opposite(of(e->b())));
        case Op::Mul:
        case Op::Div: {
            if (!as_const_int(e->b(), &factor))
                break;
            Trend t = of(e->a());
            return factor > 0 ? t : factor < 0 ? opposite(t) : Trend::Constant;
        }
        default:
            break;
        }
        bool moves = std::any_of(e->args.begin(), e->args.end(), [&](const Expr &arg) {
            return arg.defined() && of(arg) != Trend::Constant;
        });
        return moves ? Trend::Unknown : Trend::Constant;
    }

    /// If `e` depends on the variable only through one monotone sum, checks each step within a
    /// period: e(step) <= e(step + 1).
    Trend as_staircase(const Expr &e) {
        if (e.type() != Int(32) || staircases_ == most_staircases)
            return Trend::Unknown;
        const Expr inner = remainder_of(e);
        if (!inner.defined())
            return Trend::Unknown;
        staircases_++;
        const Expr stairs = InSteps(Linear::from_expr(inner)).mutate(e);
        const int64_t period = Period().of(stairs).period;
        if (period == 0 || uses_var(stairs, var_))
            return Trend::Unknown;
        const Expr begin = mul(make_variable(Int(32), period_name), int32(period));
        bool up = true, down = true;
        Expr here = simplify(substitute(step_name, begin, stairs));
        for (int64_t step = 1; step <= period && (up || down); step++) {
            const Expr next = simplify(substitute(step_name, add(begin, int32(step)), stairs));
            up = up && nowhere_above_(here, next);
            down = down && nowhere_above_(next, here);
            here = next;
        }
        if (up && down)
            return Trend::Constant;
        return up ? of(inner) : down ? opposite(of(inner)) : Trend::Unknown;
    }

    /// A monotone expression whose remainder is taken inside an expression that is not known to be
    /// monotone; undefined if there is none.
    Expr remainder_of(const Expr &e) {
        std::unordered_set<const ExprNode *> seen{e.get()};
        std::vector<Expr> left{e};
        while (!left.empty()) {
            const Expr here = left.back();
            left.pop_back();
            for (const Expr &arg : here->args) {
                if (!arg.defined())
                    continue;
                const Trend t = of(arg);
                if (here->op == Op::Mod && (t == Trend::Up || t == Trend::Down))
                    return arg;
                if (t == Trend::Unknown && !without_remainder_.count(arg.get()) &&
                    seen.insert(arg.get()).second)
                    left.push_back(arg);
            }
        }
        without_remainder_.merge(seen);
        return Expr();
    }

    const std::string &var_;
    std::unordered_map<const ExprNode *, Trend> known_;
    std::unordered_set<const ExprNode *>
        without_remainder_;  ///< nodes in which remainder_of() found none
    NowhereAbove nowhere_above_;
    int staircases_ = 0;
};

}  // namespace

Trend trend_of(const Expr &e, const std::string &var) {
    return Trends(var).of(e);
}

}  // namespace Pipe::ir
