#include "lower/steady_state.h"

#include <algorithm>
#include <limits>
#include <set>
#include <string>
#include <type_traits>
#include <unordered_map>
#include <vector>

#include "ir/constant_bounds.h"
#include "ir/fold.h"
#include "ir/intrinsics.h"
#include "ir/substitute.h"
#include "ir/visit.h"
#include "lower/lanes.h"
#include "lower/likely.h"
#include "lower/noted_bounds.h"
#include "lower/worst_case.h"

namespace Pipe::lower {

using namespace ir;

namespace {

constexpr int64_t few = 4;  ///< iterations of a loop that is not partitioned by itself

/// a - b + constant
std::optional<Linear> difference(const Expr &a, const Expr &b, int64_t constant) {
    LinearBuilder builder(Int(64));
    builder.add(a);
    builder.add(b, -1);
    Linear result;
    if (!builder.finish(&result) || !result.add(Linear::from_constant(Int(64), constant)))
        return {};
    return result;
}

/// Rewrites the body, and notes the bounds on the loop variable that make it right.
class SteadyBody {
  public:
    SteadyBody(const Stmt &loop, bool innermost, const Rest &known)
        : variable_(make_variable(loop->min().type(), loop->name)), innermost_(innermost),
          worst_(variable_, loop->min(), last_of(loop->min(), loop->extent()), inner_),
          noted_(worst_, known), in_rest_(!known.outcomes.empty()) {}

    /// The body with what holds in all iterations; itself if nothing does.
    Stmt decided_by_range(const Stmt &body) {
        noted_.only_always = true;
        return stmt(body);
    }

    std::optional<SteadyState> rewrite(const Stmt &body) {
        SteadyState result;
        result.body = stmt(body);
        if (noted_.empty() && !(in_rest_ && changes_ > 0))
            return {};
        result.blocks = std::move(blocks_);
        result.saved = noted_.saved;
        noted_.limit(result.first, result.last);
        result.before = noted_.rest(true);
        result.after = noted_.rest(false);
        return result;
    }

  private:
    static Expr last_of(const Expr &min, const Expr &extent) {
        return add(sub(min, make_const(min.type(), 1)), extent);
    }

    // What is known inside.

    /// f() with a name bound. What was rewritten is right only where names mean the same.
    template <typename F>
    std::invoke_result_t<F> bound_to(const std::string &name, Inner inner, const Expr &replacement,
                                     F &&f) {
        done_.clear();
        ScopedBinding binding(inner_, name, std::move(inner));
        ScopedBinding other(replacements_, name, replacement);
        auto result = f();
        done_.clear();
        return result;
    }

    int current_depth() const { return loops_; }
    int depth_or_here(const Expr &e) const { return worst_.depth(e).value_or(current_depth()); }

    // Deciding.

    static constexpr int saving_per_lane = 8;

    /// What deciding a condition on a and b saves. A vector of indices that need not be clamped is a
    /// dense load instead of a gather, one that need not be tested a load without mask.
    int saving(const Expr &a, const Expr &b, bool hoisted_if_invariant) const {
        if (current_depth() == 0 && !innermost_)
            return 0;
        const int depth = std::max(depth_or_here(a), depth_or_here(b));
        const bool varies = depth == current_depth();
        if (hoisted_if_invariant ? !varies : depth >= decider_)
            return 0;
        int lanes = a.type().lanes();
        return lanes == 1 ? 1 : saving_per_lane * lanes;
    }

    Gain gain(const Expr &e, const Expr &a, const Expr &b, bool hoisted_if_invariant) const {
        return {saving(a, b, hoisted_if_invariant), is_affected(e)};
    }

    /// Whether it uses a name whose meaning is another one in the steady state.
    bool is_affected(const Expr &e) const {
        return contains(e, [&](const ExprNode &n) {
            const Inner *inner = n.op == Op::Variable ? inner_.find(n.name) : nullptr;
            return inner && inner->is_affected;
        });
    }

    /// a < b, a <= b, ... as constants where it is decided.
    Expr comparison(const Expr &e, Want want) {
        Expr a = expr(e->a()), b = expr(e->b());
        if (!has_no_overflow(a.type()))
            return rebuild(e, {a, b});
        bool strict = e->op == Op::LT || e->op == Op::GT, less = e->op == Op::LT || e->op == Op::LE;
        auto holds = less ? difference(b, a, strict ? -1 : 0) : difference(a, b, strict ? -1 : 0);
        auto fails = less ? difference(a, b, strict ? 0 : -1) : difference(b, a, strict ? 0 : -1);
        if (!holds || !fails)
            return rebuild(e, {a, b});
        const Gain saved = gain(e, a, b, false);
        if (const bool holding = noted_.follows(*holds, saved);
            holding || noted_.follows(*fails, saved))
            return changed(make_const(e.type(), holding));
        const bool wanted = noted_.usual(e, want, *holds) != Want::False;
        if (noted_.assume(wanted ? *holds : *fails, saved)) {
            if (want == Want::Either)
                noted_.note_choice(e, wanted, wanted ? *holds : *fails);
            return changed(make_const(e.type(), wanted));
        }
        auto otherwise = worst_.bounds(wanted ? *fails : *holds);
        if (otherwise && otherwise->empty())
            return changed(make_const(e.type(), !wanted));
        return rebuild(e, {a, b});
    }

    static Expr undecided(const Expr &e, const Expr &a, const Expr &b) {
        return rebuild(e, {tagged_as(e->a(), a), tagged_as(e->b(), b)});
    }

    Expr min_or_max(const Expr &e) {
        Expr a = expr(e->a()), b = expr(e->b());
        if (!has_no_overflow(e.type()))
            return undecided(e, a, b);
        auto depth_a = worst_.depth(a), depth_b = worst_.depth(b);
        if (!depth_a || !depth_b || (*depth_a < 0 && *depth_b < 0))
            return undecided(e, a, b);
        bool is_min = e->op == Op::Min;
        auto takes_a = is_min ? difference(b, a, 0) : difference(a, b, 0);
        auto takes_b = is_min ? difference(a, b, 0) : difference(b, a, 0);
        if (!takes_a || !takes_b)
            return undecided(e, a, b);
        const Gain saved = gain(e, a, b, true);
        if (const bool first = noted_.follows(*takes_a, saved);
            first || noted_.follows(*takes_b, saved))
            return changed(first ? a : b);
        bool favor_a = favors_first(e, *takes_a, *depth_a >= 0 || *depth_b < 0);
        if (noted_.assume(favor_a ? *takes_a : *takes_b, saved))
            return changed(favor_a ? a : b);
        auto otherwise = worst_.bounds(favor_a ? *takes_b : *takes_a);
        if (otherwise && otherwise->empty())
            return changed(favor_a ? b : a);
        return undecided(e, a, b);
    }

    bool favors_first(const Expr &e, const Linear &takes_first, bool first_changes) {
        bool likely_a = is_likely(e->a()), likely_b = is_likely(e->b());
        if (likely_a != likely_b)
            return likely_a;
        Want usual = noted_.rule(takes_first);
        return usual == Want::Any ? first_changes : usual == Want::True;
    }

    Expr condition(const Expr &e, Want want) {
        switch (e->op) {
        case Op::LT:
        case Op::LE:
        case Op::GT:
        case Op::GE:
            return comparison(e, want);
        case Op::Not:
            return negated(condition(e->value(), opposite(want)));
        case Op::And:
            return connective(e, want, Want::False);
        case Op::Or:
            return connective(e, want, Want::True);
        case Op::Broadcast:
            return widen(condition(e->value(), want), e.type().lanes());
        case Op::VectorReduce:
            return rebuild(e, {condition(e->value(), want)});
        default:
            if (is_intrinsic(*e.get(), intrinsic::likely) && !noted_.only_always)
                return condition(e->args[0], Want::True);
            return expr(e);
        }
    }

    /// && and ||, of which one operand with the value `absorbing` decides. One that is known to does first.
    Expr connective(const Expr &e, Want want, Want absorbing) {
        const bool value = absorbing == Want::True;
        const size_t first = noted_.known_outcome(e->b()) == value ? 1 : 0;
        std::vector<Expr> operands(2);
        operands[first] = condition(e->args[first], want);
        if (is_bool_const(operands[first], value))
            return changed(operands[first]);
        operands[1 - first] = condition(e->args[1 - first], want);
        return rebuild(e, std::move(operands));
    }

    // Expressions.

    Expr expr(const Expr &e) {
        if (!e.defined())
            return e;
        if (e->op == Op::Variable) {
            const Expr *replacement = replacements_.find(e->name);
            return replacement && replacement->defined() ? changed(*replacement) : e;
        }
        if (e->args.empty())
            return e;
        auto found = done_.find(e.get());
        if (found == done_.end()) {
            int before = changes_;
            Expr result = expr_node(e);
            bool is_changed = changes_ != before;
            found = done_.emplace(e.get(), MemoEntry{e, is_changed ? result : e, is_changed}).first;
        }
        return found->second.is_changed ? changed(found->second.result) : found->second.result;
    }

    Expr expr_node(const Expr &e) {
        switch (e->op) {
        case Op::Min:
        case Op::Max:
            return min_or_max(e);
        case Op::LT:
        case Op::LE:
        case Op::GT:
        case Op::GE:
        case Op::And:
        case Op::Or:
        case Op::Not:
            return condition(e, Want::Any);
        case Op::Select:
            return select(e);
        case Op::Load:
            return rebuild(e, {expr(e->element()), predicate(e->predicate())});
        case Op::Let: {
            const int before = changes_;
            Expr now = expr(e->value());
            return let(e->name, now, depth_or_here(e->value()), changes_ != before,
                       [&](const Expr &value) -> Expr {
                           Expr body = expr(e->body());
                           return as_const_int(value, nullptr) ? body
                                                               : make_let(e->name, value, body);
                       });
        }
        default:
            break;
        }
        if (is_intrinsic(*e.get(), intrinsic::likely) && !noted_.only_always)
            return expr(e->args[0]);
        if (is_intrinsic(*e.get(), intrinsic::if_then_else))
            return select(e);
        return rebuild(e, children(e));
    }

    std::vector<Expr> children(const Expr &e) {
        std::vector<Expr> args;
        for (const Expr &arg : e->args)
            args.push_back(expr(arg));
        return args;
    }

    Expr predicate(const Expr &e) { return e.defined() ? condition(e, Want::True) : e; }

    /// select and if_then_else
    Expr select(const Expr &e) {
        bool t = is_likely(e->args[1]), f = is_likely(e->args[2]);
        Want want = t == f ? Want::Either : t ? Want::True : Want::False;
        Expr decided = condition(e->args[0], want);
        if (is_bool_const(decided, true))
            return changed(expr(e->args[1]));
        if (is_bool_const(decided, false))
            return changed(expr(e->args[2]));
        return rebuild(e, {decided, tagged_as(e->args[1], expr(e->args[1])),
                           tagged_as(e->args[2], expr(e->args[2]))});
    }

    /// f(value) with the name bound to the value. A constant takes the name's place, though what is not rewritten may still
    /// use the name. A ramp is known by its first lane, so that what is added to it stays a ramp.
    /// `depth`: where the value varied before it was rewritten.
    template <typename F>
    std::invoke_result_t<F, Expr> let(const std::string &name, const Expr &value, int depth,
                                      bool is_affected, F &&f) {
        Inner inner;
        inner.value = value;
        inner.is_affected = is_affected || this->is_affected(value);
        inner.depth = is_constant(value) ? depth : depth_or_here(value);
        if (as_const_int(value, nullptr))
            return bound_to(name, inner, value, [&] { return f(value); });
        if (value->op != Op::Ramp || !as_const_int(value->stride(), nullptr))
            return bound_to(name, inner, Expr(), [&] { return f(value); });
        inner.value = value->base();
        Expr first_lane = make_variable(inner.value.type(), name);
        Expr lanes = make_ramp(first_lane, value->stride(), value.type().lanes());
        // The ramp speaks of `name` in its new, scalar meaning, which inner_ has.
        const bool is_new = ramps_.insert(name).second;
        auto result = bound_to(name, inner, lanes, [&] { return f(value->base()); });
        if (is_new)
            ramps_.erase(name);
        return result;
    }

    /// Also where a condition was a constant before: what it leaves out may use names that are gone.
    template <typename T> T changed(const T &now) {
        changes_++;
        return now;
    }

    // Statements.

    /// s itself where nothing in it is decided, or nothing is saved by that in a whole loop: it would be one more copy
    /// of the same code.
    Stmt stmt(const Stmt &s) {
        if (!s.defined())
            return s;
        const int before = changes_;
        if (s->op != StmtOp::For || in_rest_ || noted_.only_always) {
            Stmt now = stmt_node(s);
            return changes_ == before ? s : now;
        }
        const NotedBounds::Notes notes = noted_.notes();
        Stmt now = stmt_node(s);
        if (changes_ == before)
            return s;
        if (!now.defined() || noted_.saved > notes.saved ||
            (!ramps_.empty() && uses_any_var(s, ramps_)))
            return now;
        noted_.forget_since(notes);
        changes_ = before;
        return s;
    }

    Stmt stmt_node(const Stmt &s) {
        switch (s->op) {
        case StmtOp::Let: {
            Expr now = let_value(s->value());
            return let(s->name, now, depth_or_here(s->value()), !now.same_as(s->value()),
                       [&](const Expr &value) -> Stmt {
                           Stmt body = stmt(s->body());
                           return body.defined() ? make_let(s->name, value, body) : body;
                       });
        }
        case StmtOp::For:
            return loop(s);
        case StmtOp::If:
            return branch(s);
        case StmtOp::Store:
            return store(s);
        case StmtOp::Block:
            return block(s);
        default:
            break;
        }
        Stmt result = map_children(
            s, [&](const Expr &e) { return expr(e); },
            [&](const Stmt &child) { return stmt(child); });
        bool emptied = result.defined() && !result->stmts.empty() && !result->stmts[0].defined();
        return emptied ? Stmt() : result;
    }

    Stmt block(const Stmt &s) {
        std::vector<Stmt> parts;
        for (const Stmt &child : s->stmts)
            parts.push_back(stmt(child));
        Stmt result = make_block(parts);
        if (result.defined())
            blocks_[result.get()] = std::move(parts);
        return result;
    }

    Stmt store(const Stmt &s) {
        const int decided_before = noted_.decided;
        Expr mask = predicate(s->predicate());
        const bool is_named = s->predicate().defined() && s->predicate()->op == Op::Variable;
        if (mask.defined() && is_bool_const(mask, false))
            return changed(Stmt());
        if (mask.defined() && is_bool_const(mask, true)) {
            // A mask that is named further out costs nothing there, but it does in each access.
            if (is_named && is_affected(s->predicate()) && current_depth() > 0 &&
                depth_or_here(s->predicate()) < decider_)
                noted_.saved += saving_per_lane * mask.type().lanes();
            // Before and after the loops inside, which may be short: sums that are kept in registers there.
            if (!innermost_ && current_depth() == 0 && mask.type().is_vector() &&
                (is_named || noted_.decided > decided_before))
                noted_.saved++;
            mask = Expr();
        }
        return with_children(s, {expr(s->value()), expr(s->index()), mask}, {});
    }

    Expr let_value(const Expr &e) {
        int before = changes_;
        Expr value = e.type().is_bool() ? condition(e, Want::Any) : expr(e);
        return changes_ == before ? e : value;
    }

    Stmt loop(const Stmt &s) {
        Expr min = expr(s->min()), extent = as_number(expr(s->extent()));
        const int saved_before = noted_.saved;
        if (is_at_most(extent, unrolled) && (!extent.same_as(s->extent()) || is_affected(extent)) &&
            !contains_stmt(s->body(), takes_long))
            noted_.saved += of_known_trip_count;
        Inner inner;
        inner.min = min;
        inner.max = last_of(min, extent);
        inner.is_affected = is_affected(min) || is_affected(extent) || !min.same_as(s->min()) ||
                            !extent.same_as(s->extent());
        inner.depth = ++loops_;
        const int around = decider_;
        // One that is short in the steady state is not partitioned there.
        if (s->kind == LoopKind::Serial && is_long_loop(*s.get()) && !is_at_most(extent, few) &&
            !contains_stmt(s->body(), is_long_loop))
            decider_ = loops_;
        Stmt body = bound_to(s->name, inner, Expr(), [&] { return stmt(s->body()); });
        decider_ = around;
        loops_--;
        if (s->partition == Partitioning::Remainder)
            noted_.saved = saved_before;
        return body.defined() ? with_children(s, {min, extent}, {body}) : body;
    }

    /// A loop that takes little time and has so few iterations is unrolled, if their number is known, and what is stored in
    /// it may be in registers.
    static constexpr int64_t unrolled = 16;
    static constexpr int of_known_trip_count = 4;

    /// An extent of which only lets do not show that it is a number: max - min + 1, of equal ones.
    Expr as_number(const Expr &extent) {
        const Linear value = worst_.expanded(extent);
        return value.is_constant() && !as_const_int(extent, nullptr)
                   ? changed(make_const(extent.type(), value.constant))
                   : extent;
    }

    /// Whether an extent is a number, and not more than `most`, once lets are looked through.
    bool is_at_most(const Expr &extent, int64_t most) const {
        const Linear value = worst_.expanded(extent);
        return value.is_constant() && value.constant <= most;
    }

    Stmt branch(const Stmt &s) {
        // What is around a test cannot be scheduled together with what is inside.
        constexpr int of_no_branch = 8;
        const int saved_before = noted_.saved;
        const int decided_before = noted_.decided;
        const Want want = s->else_case().defined() ? Want::Either : Want::Any;
        const Expr decided = condition(s->condition(), want);
        const int saved_by_test = noted_.saved - saved_before;
        const bool is_true = is_bool_const(decided, true);
        if (is_true || is_bool_const(decided, false)) {
            Stmt usual = stmt(s->stmts[is_true ? 0 : 1]);
            if (has_loop(usual))  // around which the test is cheap
                noted_.saved -= saved_by_test;
            else if (noted_.decided > decided_before && depth_or_here(s->condition()) < decider_ &&
                     (innermost_ || current_depth() > 0))
                noted_.saved += of_no_branch;
            return changed(usual);
        }
        Stmt t = stmt(s->then_case()), f = stmt(s->else_case());
        if (has_loop(t) || has_loop(f))
            noted_.saved -= saved_by_test;
        if (!t.defined() && !f.defined())
            return Stmt();
        if (!t.defined())
            return make_if(negated(decided), f);
        return make_if(tagged_as(s->condition(), decided), t, f);
    }

    static bool has_loop(const Stmt &s) {
        return s.defined() && contains_stmt(s, [](const StmtNode &c) {
                   return c.op == StmtOp::For && c.partition != Partitioning::Remainder;
               });
    }

    const Expr variable_;
    const bool innermost_;
    Scope<Inner> inner_;
    Scope<Expr> replacements_;  ///< what takes a name's place; undefined = the name itself
    WorstCase worst_;
    NotedBounds noted_;
    const bool in_rest_;
    static constexpr int none = std::numeric_limits<int>::max();
    /// The innermost loop around the expression at hand that is partitioned by itself: it decides what varies in it.
    int decider_ = none;
    int loops_ = 0;  ///< loops around the expression at hand, inside of the loop
    struct MemoEntry {
        Expr before, result;  ///< `before` is kept alive: its address is the key
        bool is_changed;
    };
    std::unordered_map<const ExprNode *, MemoEntry> done_;
    std::unordered_map<const StmtNode *, std::vector<Stmt>> blocks_;
    std::set<std::string> ramps_;  ///< names that stand for the first lane now
    int changes_ = 0;  ///< how often something other than what was there was put in its place
};

}  // namespace

bool takes_long(const StmtNode &s) {
    constexpr int64_t many = 32;
    int64_t extent = many;
    return s.op == StmtOp::For && (!as_const_int(s.extent(), &extent) || extent >= many);
}

bool is_long_loop(const StmtNode &s) {
    int64_t extent = 0;
    return s.op == StmtOp::For && s.partition != Partitioning::Never &&
           s.partition != Partitioning::Remainder &&
           !(as_const_int(s.extent(), &extent) && extent <= few);
}

Stmt decide_by_ranges(const Stmt &s) {
    if (s->op != StmtOp::For)
        return map_children(
            s, [](const Expr &e) { return e; }, decide_by_ranges);
    if (is_gpu(s->kind))
        return s;
    const Rest nothing_known;
    const Stmt body = SteadyBody(s, false, nothing_known).decided_by_range(s->body());
    return !body.defined() || body.same_as(s->body()) ? s : with_children(s, s->exprs, {body});
}

std::optional<SteadyState> find_steady_state(const Stmt &loop, bool innermost, const Rest &known) {
    return SteadyBody(loop, innermost, known).rewrite(loop->body());
}

}  // namespace Pipe::lower
