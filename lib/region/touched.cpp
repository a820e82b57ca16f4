#include "region/touched.h"

#include <algorithm>
#include <set>
#include <unordered_set>

#include "ir/equal.h"
#include "ir/intrinsics.h"
#include "ir/linear.h"
#include "ir/simplify.h"
#include "ir/visit.h"
#include "poly/joint_range.h"
#include "region/at_most.h"
#include "region/conditions.h"

namespace Pipe::region {

using namespace ir;

namespace {

/// Whether sum <= 0 follows from limit <= 0, of integers: of 2 * x - 1 >= 0, x >= 1.
bool follows_from(const Linear &sum, Linear limit) {
    if (sum.type != limit.type || sum.terms.empty() || limit.terms.size() != sum.terms.size())
        return false;
    const int64_t factor = limit.terms[0].coefficient / sum.terms[0].coefficient;
    return factor > 0 && limit.add(sum, -factor) && limit.is_constant() && limit.constant <= 0 &&
           limit.constant > -factor;
}

/// e of clamp(e, lo, hi), and what is <= 0 where the clamp does nothing.
struct Clamp {
    Expr value;
    Linear below, above;
};
std::optional<Clamp> as_clamp(const Expr &index) {
    if (index->op != Op::Max || index->a()->op != Op::Min || !index_type(index.type()))
        return std::nullopt;
    Expr value = index->a()->a();
    while (is_intrinsic(*value.get(), intrinsic::likely))
        value = value->args[0];
    return Clamp{value, Linear::from_expr(sub(index->b(), value)),
                 Linear::from_expr(sub(value, index->a()->b()))};
}

/// Visits the calls of an expression graph, each shared node once per scope.
class TouchedVisitor {
  public:
    TouchedVisitor(Touched &touched, const Expr &condition, const Choices *choices,
                   Choices *found = nullptr)
        : choices_(choices), found_(found), touched_(touched) {
        if (condition.defined())
            conjuncts_ = conjuncts_of(condition, true);
        given_ = conjuncts_.size();
    }

    /// `plain`: the scope without the narrowing by selects.
    void visit(const Expr &e, const IntervalScope &scope, const IntervalScope &plain,
               std::unordered_set<const ExprNode *> &seen) {
        if (!e.defined() || !seen.insert(e.get()).second)
            return;
        if (!selects_.empty())
            narrowed_nodes_++;
        const bool conditional = is_choice(*e.get());
        if (conditional && e->args[0].type().is_scalar()) {
            visit(e->args[0], scope, plain, seen);
            visit_arm(*e.get(), true, scope, plain, seen);
            visit_arm(*e.get(), false, scope, plain, seen);
            return;
        }
        if (e->op == Op::Let) {
            visit(e->value(), scope, plain, seen);
            IntervalScope inner = scope, plain_inner = plain;
            inner.push(e->name, bounds_of(e->value(), scope));
            plain_inner.push(e->name, bounds_of(e->value(), plain));
            std::unordered_set<const ExprNode *> fresh;
            visit(e->body(), inner, plain_inner, fresh);
            return;
        }
        for (const Expr &child : e->args)
            visit(child, scope, plain, seen);
        if (e->op == Op::Call &&
            (e->call_kind == CallKind::Func || e->call_kind == CallKind::Image)) {
            Box box;
            for (const Expr &arg : e->args)
                box.push_back(index_bounds(arg, scope, conjuncts_));
            if (found_ && !selects_.empty() && narrower(box, e->args, plain))
                found_->insert(selects_.begin(), selects_.end());
            merge(touched_[e->name], box);
        }
    }

  private:
    void visit_arm(const ExprNode &choice, bool holds, const IntervalScope &scope,
                   const IntervalScope &plain, std::unordered_set<const ExprNode *> &seen) {
        const Expr &condition = choice.args[0], &arm = choice.args[holds ? 1 : 2];
        std::vector<Expr> conjuncts;
        const bool worth = narrowed_nodes_ < most_narrowed_nodes;
        if (worth && (!choices_ || choice.op != Op::Select || choices_->count(&choice)))
            conjuncts = conjuncts_of(condition, holds);
        if (conjuncts.empty())
            return visit(arm, scope, plain, seen);
        std::unordered_set<const ExprNode *> fresh;
        size_t before = conjuncts_.size();
        conjuncts_.insert(conjuncts_.end(), conjuncts.begin(), conjuncts.end());
        selects_.push_back(&choice);
        visit(arm, narrowed(scope, condition, holds), plain, fresh);
        selects_.pop_back();
        conjuncts_.resize(before);
    }

    /// Whether the selects around a call with these arguments may make its box smaller. Where they only say that a clamp does
    /// nothing, as boundary conditions do, its bounds give the box: it has one more element at an edge that no iteration
    /// needs, and ends that are clamps of sums, whose distances are known.
    bool narrower(const Box &box, const std::vector<Expr> &args, const IntervalScope &plain) const {
        std::vector<Expr> given(conjuncts_.begin(), conjuncts_.begin() + static_cast<long>(given_));
        for (size_t d = 0; d < args.size(); d++) {
            if (clamp_says_all(args[d], plain))
                continue;
            Interval all = index_bounds(args[d], plain, given);
            bool same = box[d].min.defined() == all.min.defined() &&
                        box[d].max.defined() == all.max.defined() &&
                        (!all.min.defined() || at_most(box[d].min, all.min)) &&
                        (!all.max.defined() || at_most(all.max, box[d].max));
            if (!same)
                return true;
        }
        return false;
    }

    /// Whether the index is a clamp from whose bounds all follows that selects say of its variables.
    bool clamp_says_all(const Expr &index, const IntervalScope &scope) const {
        const std::optional<Clamp> clamp = as_clamp(index);
        if (!clamp)
            return false;
        const std::set<std::string> own = variables_of(clamp->value, scope);
        return std::all_of(
            conjuncts_.begin() + static_cast<long>(given_), conjuncts_.end(),
            [&](const Expr &conjunct) {
                const Linear sum = Linear::from_expr(conjunct);
                if (follows_from(sum, clamp->below) || follows_from(sum, clamp->above))
                    return true;
                const std::set<std::string> tied = variables_of(conjunct, scope);
                return std::none_of(tied.begin(), tied.end(),
                                    [&](const std::string &v) { return own.count(v) != 0; });
            });
    }

    /// A variable that occurs twice may cancel out, which interval arithmetic does not detect.
    Interval index_bounds(const Expr &index, const IntervalScope &scope,
                          const std::vector<Expr> &conjuncts) const {
        Expr e = repeats_variable(index, scope) ? simplify(index) : index;
        Interval result = bounds_of(e, scope);
        if (!index_type(e.type()) || !e.type().is_scalar())
            return result;
        for (const Expr &conjunct : conjuncts)
            tighten(result, e, conjunct, scope);
        if (correlated(e, scope, conjuncts))
            tighten_jointly(result, e, scope, conjuncts);
        return result;
    }

    /// Whether conditions relate the variables of e to more variables than intervals handle, or one
    /// of them occurs in several terms of e.
    static bool correlated(const Expr &e, const IntervalScope &scope,
                           const std::vector<Expr> &conjuncts) {
        if (repeats_variable(e, scope))
            return true;
        std::set<std::string> own = variables_of(e, scope);
        return std::count_if(conjuncts.begin(), conjuncts.end(),
                             [&](const Expr &conjunct) {
                                 std::set<std::string> tied = terms_of(conjunct, scope);
                                 return tied.size() > 1 && std::any_of(tied.begin(), tied.end(),
                                                                       [&](const std::string &v) {
                                                                           return own.count(v) != 0;
                                                                       });
                             }) > 0 &&
               conjuncts.size() > 1;
    }

    /// The variables that are terms of a sum: what is inside of a quotient or remainder bounds no other one.
    static std::set<std::string> terms_of(const Expr &sum, const IntervalScope &scope) {
        std::set<std::string> result;
        for (const Linear::Term &term : Linear::from_expr(sum).terms)
            if (term.atom->op == Op::Variable && scope.contains(term.atom->name))
                result.insert(term.atom->name);
        return result;
    }

    static std::set<std::string> variables_of(const Expr &e, const IntervalScope &scope) {
        std::set<std::string> result;
        each_node(e, [&](const ExprNode &node) {
            if (node.op == Op::Variable && scope.contains(node.name))
                result.insert(node.name);
            return true;
        });
        return result;
    }

    static void tighten_jointly(Interval &result, const Expr &e, const IntervalScope &scope,
                                const std::vector<Expr> &conjuncts) {
        poly::JointDomain domain;
        std::set<std::string> variables = variables_of(e, scope);
        for (const Expr &conjunct : conjuncts)
            variables.merge(variables_of(conjunct, scope));
        for (const std::string &name : variables) {
            const Interval &range = *scope.find(name);
            domain.variables.push_back({name, range.min, range.max});
        }
        domain.conditions = conjuncts;
        poly::Range joint = poly::joint_range(e, domain);
        constexpr int64_t infinite = poly::Range::infinite;
        auto end = [&](int64_t number) {
            return number > -infinite && number < infinite ? constant_end(e.type(), number)
                                                           : Expr();
        };
        result = intersect(result, {end(joint.min), end(joint.max)});
    }

    static bool repeats_variable(const Expr &e, const IntervalScope &scope) {
        constexpr int few = 60;
        std::vector<std::string> seen;
        std::vector<const ExprNode *> pending{e.get()};
        for (int steps = 0; !pending.empty() && steps < few; steps++) {
            const ExprNode *node = pending.back();
            pending.pop_back();
            if (node->op == Op::Variable && scope.contains(node->name)) {
                if (std::find(seen.begin(), seen.end(), node->name) != seen.end())
                    return true;
                seen.push_back(node->name);
            }
            if (node->op == Op::Call && node->call_kind != CallKind::Intrinsic)
                continue;
            for (const Expr &arg : node->args)
                if (arg.defined())
                    pending.push_back(arg.get());
        }
        return false;
    }

    /// If `conjunct` <= 0, then e <= e - k * conjunct and e >= e + k * conjunct for every k >= 0:
    /// useful if this eliminates variables from the sum. Single variables have been narrowed
    /// already.
    static void tighten(Interval &result, const Expr &e, const Expr &conjunct,
                        const IntervalScope &scope) {
        Linear sum = Linear::from_expr(e), limit = Linear::from_expr(conjunct);
        if (sum.type != limit.type)
            return;
        int common = 0;
        int64_t factor = 0;  // of the conjunct, such that the first common variable is eliminated
        for (const Linear::Term &t : sum.terms) {
            int64_t k = limit.coefficient(t.atom);
            if (k == 0 || t.coefficient % k != 0 || t.atom->op != Op::Variable)
                continue;
            if (common++ == 0)
                factor = t.coefficient / k;
        }
        if (common < 2)
            return;
        if (!sum.add(limit, -factor) || !sum.representable())
            return;
        Interval rest = bounds_of(sum.to_expr(), scope);
        if (factor > 0 && rest.max.defined())
            result.max = result.max.defined() ? lesser(result.max, rest.max) : rest.max;
        if (factor < 0 && rest.min.defined())
            result.min = result.min.defined() ? greater(result.min, rest.min) : rest.min;
    }

    /// Expressions shared by several arms are visited once for each of them: with nested selects,
    /// once per path. Beyond this limit, boxes are those of both arms.
    static constexpr int most_narrowed_nodes = 5000;
    int narrowed_nodes_ = 0;

    std::vector<Expr> conjuncts_;  ///< each <= 0 at the visited expression
    size_t given_ = 0;             ///< how many of them hold everywhere
    std::vector<const ExprNode *>
        selects_;             ///< around that expression, with the conditions after the others
    const Choices *choices_;  ///< null: every select
    Choices *found_;

    Touched &touched_;
};

}  // namespace

void add_touched(const Expr &e, const IntervalScope &scope, Touched &touched, const Expr &condition,
                 const Choices *choices) {
    std::unordered_set<const ExprNode *> seen;
    TouchedVisitor(touched, condition, choices).visit(e, scope, scope, seen);
}

void add_choices(const Expr &e, const IntervalScope &scope, Choices &choices,
                 const Expr &condition) {
    std::unordered_set<const ExprNode *> seen;
    Touched touched;
    TouchedVisitor(touched, condition, nullptr, &choices).visit(e, scope, scope, seen);
}

}  // namespace Pipe::region
