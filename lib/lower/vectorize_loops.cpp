#include "lower/vectorize_loops.h"

#include <algorithm>
#include <optional>
#include <unordered_map>

#include "ir/computed.h"
#include "ir/equal.h"
#include "ir/intrinsics.h"
#include "ir/print.h"
#include "ir/scope.h"
#include "ir/simplify.h"
#include "ir/substitute.h"
#include "ir/visit.h"
#include "lower/iterations.h"
#include "lower/lanes.h"
#include "lower/origin.h"
#include "lower/phases.h"

namespace Pipe::lower {

using namespace ir;

namespace {

/// Whether a statement for which `is_wanted` holds is at or below s.
template <typename F> bool any_stmt(const Stmt &s, F &&is_wanted) {
    bool found = false;
    auto look = [&](const Stmt &child) { return !(found = found || is_wanted(*child.get())); };
    walk(s, look, [](const Expr &) { return false; });
    return found;
}

bool is_vectorized_loop(const StmtNode &s) {
    return s.op == StmtOp::For && s.kind == LoopKind::Vectorized;
}

bool overlaps(const std::set<std::string> &a, const std::set<std::string> &b) {
    return std::any_of(a.begin(), a.end(), [&](const std::string &name) { return b.count(name); });
}

/// a[i] = a[i] op value, or a[i] = a[i] - value
struct Update {
    Op op;          ///< how the lanes' values are combined
    bool subtract;  ///< the combined value is subtracted
    Expr old, value;
};

std::optional<Update> as_update(const Stmt &store) {
    Expr value = store->exprs[0];
    auto is_old = [&](const Expr &e) {
        return e->op == Op::Load && e->name == store->name && !e->args[1].defined() &&
               equal(e->args[0], store->exprs[1]);
    };
    bool associative =
        is_binary(value->op) && is_commutative(value->op) && !is_comparison(value->op);
    if (!associative && value->op != Op::Sub)
        return {};
    Expr a = value->args[0], b = value->args[1];
    if (associative && is_old(b) && !is_old(a))
        std::swap(a, b);
    if (!is_old(a) || buffers_read(b).count(store->name))
        return {};
    bool subtract = value->op == Op::Sub;
    return Update{subtract ? Op::Add : value->op, subtract, a, b};
}

/// Rewrites the body of one vectorised loop.
class LoopVectorizer {
  public:
    LoopVectorizer(const Stmt &loop, int lanes)
        : LoopVectorizer(loop->name, loop->exprs[0], lanes) {
        set_ramp(loop_, make_ramp(min_, make_const(min_.type(), 1), lanes));
    }

    Stmt vectorize(const Stmt &s) {
        if (!s.defined())
            return s;
        bool has_effect = std::any_of(s->exprs.begin(), s->exprs.end(), [](const Expr &e) {
            return e.defined() && has_side_effect(e);
        });
        if (has_effect)
            return lane_by_lane(s);
        switch (s->op) {
        case StmtOp::Let:
            return let(s);
        case StmtOp::Assert:
            return assertion(s);
        case StmtOp::For:
            return loop(s);
        case StmtOp::Store:
            return store(s);
        case StmtOp::Allocate:
            return allocate(s);
        case StmtOp::If:
            return branch(s);
        case StmtOp::Evaluate:
            return Stmt();
        case StmtOp::Prefetch:
            return lane_by_lane(s);
        case StmtOp::Fork:
        case StmtOp::Acquire:
        case StmtOp::Release:
            throw CompileError("async: " + s->name.substr(0, s->name.find('.')) +
                               " would be a task in each lane of the vectorized loop " + loop_ +
                               ". Compute and store it outside of that loop.");
        case StmtOp::Memoize:
            throw CompileError("memoize: " + s->name +
                               " would be looked up in each lane of the vectorized loop " + loop_ +
                               ". Compute it outside of that loop.");
        default:
            return children(s);
        }
    }

  private:
    LoopVectorizer(const std::string &loop, const Expr &min, int lanes)
        : loop_(loop), min_(min), lanes_(lanes),
          lane_(sub(make_variable(min_.type(), loop_), min_)),
          phases_([this](const std::string &name) { return step_of(name); }) {}

    /// Of a name.
    struct Meaning {
        Expr value;
        Expr ramp;  ///< the same value, where it advances evenly from lane to lane
    };

    /// Something of one lane that encloses the statement at hand, in scalar form.
    struct Enclosing {
        StmtOp op;         ///< Let or If
        std::string name;  ///< Let
        Expr value;
    };

    // What encloses the statement.

    /// f() with `name` bound to a vector, known as `scalar` in code for one lane.
    template <typename F>
    Stmt with_vector(const std::string &name, const Expr &vector, const Expr &scalar, F &&f) {
        Expr variable = make_variable(vector.type(), name + ".v");
        enclosing_.push_back({StmtOp::Let, name, scalar});
        // (Each phase evaluates the ramp's base again.)
        bool even = vector->op == Op::Ramp && buffers_read(vector).empty();
        ScopedBinding<Meaning> binding(vectors_, name, {variable, even ? vector : Expr()});
        Stmt body = f();
        enclosing_.pop_back();
        return body.defined() ? make_let(variable->name, vector, body) : body;
    }

    /// f() where only the lanes of `vector` are on; `scalar` is the same condition for one lane.
    template <typename F> Stmt with_mask(const Expr &vector, const Expr &scalar, F &&f) {
        Expr outer = mask_;
        Expr mask = both(mask_, vector);
        bool is_named = mask->op == Op::Variable;
        std::string name = is_named ? mask->name : of_depth(".mask");
        bool outer_reads_uniform = reads_uniform_;
        depth_++;
        reads_uniform_ = false;
        mask_ = make_variable(mask.type(), name);
        enclosing_.push_back({StmtOp::If, "", scalar});
        Stmt body = f();
        enclosing_.pop_back();
        if (reads_uniform_ && body.defined())
            body = make_if(all_lanes(Op::Or, mask_), body);
        mask_ = outer;
        reads_uniform_ = reads_uniform_ || outer_reads_uniform;
        depth_--;
        return body.defined() && !is_named ? make_let(name, mask, body) : body;
    }

    std::string of_depth(const char *what) const {
        return loop_ + what + (depth_ == 0 ? "" : "." + std::to_string(depth_));
    }

    /// f(), a vector form of s whose `value` is evaluated before the statements below s. Code for single
    /// lanes evaluates it again: where they change what it reads, s as a whole is done lane by lane.
    template <typename F>
    Stmt evaluated_once(const Stmt &s, std::initializer_list<Expr> values, F &&f) {
        int before = lane_loops_;
        Stmt result = f();
        if (lane_loops_ == before)
            return result;
        for (const Expr &value : values)
            if (overlaps(buffers_read(value), buffers_written(s)))
                return lane_by_lane(s);
        return result;
    }

    // Code for one lane at a time.

    /// The scalar code of s, in the scalar forms of all that encloses it.
    Stmt for_one_lane(const Stmt &s) {
        Stmt body = own_copy(s);
        for (auto it = enclosing_.rbegin(); it != enclosing_.rend(); ++it) {
            if (it->op == StmtOp::If)
                body = make_if(own_copy(it->value), body);
            else if (uses_var(body, it->name))
                body = make_let(it->name, own_copy(it->value), body);
        }
        return body;
    }

    Stmt lane_by_lane(const Stmt &s) {
        lane_loops_++;
        return make_for(loop_, min_, make_const(min_.type(), lanes_), LoopKind::Serial,
                        for_one_lane(s));
    }

    Stmt last_lane(const Stmt &s) {
        lane_loops_++;
        return make_let(loop_, add(min_, make_const(min_.type(), lanes_ - 1)), for_one_lane(s));
    }

    /// Scalar code that uses this lane's copy of what is allocated inside of the loop.
    template <typename T> T own_copy(const T &code) {
        if (copies_.empty())
            return code;
        struct OwnCopy : GraphMutator {
            LoopVectorizer &outer;
            explicit OwnCopy(LoopVectorizer &o) : outer(o) {}
            using GraphMutator::mutate;
            Expr rewrite(const Expr &e) override {
                Expr now = GraphMutator::rewrite(e);
                if (now->op != Op::Load || !outer.copies_.count(now->name))
                    return now;
                return make_load(now.type(), now->name, element(now->args[0]), now->args[1]);
            }
            Stmt mutate(const Stmt &s) override {
                Stmt now = GraphMutator::mutate(s);
                if (now->op != StmtOp::Store || !outer.copies_.count(now->name))
                    return now;
                return with_children(now, {now->exprs[0], element(now->exprs[1]), now->exprs[2]},
                                     {});
            }
            Expr element(const Expr &index) {
                Type type = index.type();
                return add(mul(index, make_const(type, outer.lanes_)),
                           make_cast(type, outer.lane_));
            }
        };
        return OwnCopy(*this).mutate(code);
    }

    // Expressions.

    Expr vec(const Expr &e) {
        if (!e.defined())
            return e;
        done_.clear();
        phases_.forget();
        return rewrite(e);
    }

    Expr rewrite(const Expr &e) {
        if (e->args.empty() && e->op != Op::Variable)
            return e;
        auto found = done_.find(e.get());
        if (found != done_.end())
            return found->second;
        Expr result = rewrite_node(e);
        done_.emplace(e.get(), result);
        return result;
    }

    Expr rewrite_node(const Expr &e) {
        if (e->op == Op::Variable) {
            const Meaning *now = vectors_.find(e->name);
            return now ? now->value : e;
        }
        if (e->op == Op::Let)
            return let(e);
        if (Expr parts = arms_ == 0 ? interleaved(e) : Expr(); parts.defined())
            return parts;
        if (is_intrinsic(*e.get(), intrinsic::if_then_else))
            return if_then_else(e);
        std::vector<Expr> args;
        for (const Expr &arg : e->args)
            args.push_back(arg.defined() ? rewrite(arg) : arg);
        // Who uses promises has done so. Around a ramp, one would hide that its elements are neighbours.
        if (is_intrinsic(*e.get(), intrinsic::promise_clamped) && args[0].type().is_vector())
            return args[0];
        return e->op == Op::Load ? load(e, args[0], args[1]) : rebuild(e, std::move(args));
    }

    // Phases (see phases.h).

    void set_ramp(const std::string &name, const Expr &ramp) { vectors_.push(name, {ramp, ramp}); }

    /// From one lane to the next; nothing where that differs, and for buffers with a copy per lane.
    std::optional<int64_t> step_of(const std::string &name) const {
        const Meaning *now = vectors_.find(name);
        bool differs = (now && now->value.type().is_vector()) || copies_.count(name) > 0;
        int64_t step = 0;
        if (differs && !(now && now->ramp.defined() && as_const_int(now->ramp->args[1], &step)))
            return std::nullopt;
        return step;
    }

    /// Which lanes are on, for one lane; undefined for all. Nothing where it depends on memory, which may have
    /// changed, on what stays whole, or on a name that means something else by now.
    std::optional<Expr> condition_here() {
        Expr all;
        for (auto around = enclosing_.begin(); around != enclosing_.end(); ++around) {
            if (around->op != StmtOp::If)
                continue;
            const Expr &condition = around->value;
            bool hidden = std::any_of(around, enclosing_.end(), [&](const Enclosing &inner) {
                return inner.op == StmtOp::Let && uses_var(condition, inner.name);
            });
            if (hidden || !buffers_read(condition).empty() || phases_.keeps_whole(condition))
                return std::nullopt;
            all = all.defined() ? make_binary(Op::And, all, condition) : condition;
        }
        return all;
    }

    /// e, one phase after the other; undefined where that is of no use or cannot be.
    Expr interleaved(const Expr &e) {
        const int phases = phases_.of(e), lanes = lanes_ / phases;
        if (is_phase_ || phases == 1 || lanes_ % phases != 0 || lanes == 1)
            return Expr();
        std::optional<Expr> condition = condition_here();
        if (!condition)
            return Expr();
        std::vector<Expr> parts;
        for (int k = 0; k < phases; k++) {
            LoopVectorizer phase(loop_, min_, lanes);
            phase.is_phase_ = true;
            for (const Expr &from : {e, *condition})
                if (from.defined())
                    set_ramps(phase, from, k, phases);
            if (condition->defined())
                phase.mask_ = widen(phase.vec(*condition), lanes);
            parts.push_back(widen(phase.vec(e), lanes));
            reads_uniform_ |= phase.reads_uniform_;
        }
        return make_interleave(std::move(parts));
    }

    /// What advances evenly in `from`, as in phase k of so many.
    void set_ramps(LoopVectorizer &phase, const Expr &from, int k, int phases) const {
        each_node(from, [&](const ExprNode &node) {
            const Meaning *now = node.op == Op::Variable ? vectors_.find(node.name) : nullptr;
            if (now && now->ramp.defined() && !phase.vectors_.contains(node.name)) {
                const Expr &first = now->ramp->args[0], &step = now->ramp->args[1];
                phase.set_ramp(node.name,
                               make_ramp(add(first, mul(step, make_const(step.type(), k))),
                                         mul(step, make_const(step.type(), phases)), phase.lanes_));
            }
            return true;
        });
    }

    Expr let(const Expr &e) {
        Expr value = rewrite(e->args[0]);
        bool varies = value.type().is_vector();
        std::string name = varies ? e->name + ".v" : e->name;
        auto outer =
            std::move(done_);  // what was rewritten is right only where names mean the same
        done_.clear();
        phases_.forget();
        ScopedBinding<Meaning> binding(vectors_, e->name, {make_variable(value.type(), name), {}});
        Expr body = rewrite(e->args[1]);
        done_ = std::move(outer);
        phases_.forget();
        return make_let(name, value, body);
    }

    Expr arm(const Expr &condition, const Expr &e) {
        auto outer_done = done_;
        Expr outer_mask = mask_;
        mask_ = both(mask_, widen(condition, lanes_));
        arms_++;
        Expr result = rewrite(e);
        arms_--;
        mask_ = outer_mask;
        done_ = std::move(outer_done);
        return result;
    }

    /// Only one arm is evaluated: loads of the other one are masked off. What both arms compute in
    /// any case is computed before, once for both.
    Expr if_then_else(const Expr &e) {
        Expr condition = rewrite(e->args[0]);
        auto operands_of = [](const ExprNode *node, auto &&visit) {
            bool is_branch = is_intrinsic(*node, intrinsic::if_then_else);
            if (node->op == Op::Let)
                return;
            for (size_t i = 0; i < (is_branch ? 1 : node->args.size()); i++)
                if (node->args[i].defined())
                    visit(node->args[i].get());
        };
        for (const ExprNode *node :
             computed_in_both(e->args[1].get(), e->args[2].get(), operands_of))
            rewrite(Expr(node));
        Expr t = arm(condition, e->args[1]), f = arm(negated(condition), e->args[2]);
        return rebuild(make_select(e->args[0], e->args[1], e->args[2]), {condition, t, f});
    }

    Expr load(const Expr &e, Expr index, Expr predicate) {
        if (copies_.count(e->name))
            index = spread(index);
        bool varies =
            index.type().is_vector() || (predicate.defined() && predicate.type().is_vector());
        bool may_be_off =
            is_phase_ && mask_.defined();  // all lanes of it, but not those of another
        if (!varies && arms_ == 0 && !may_be_off) {
            reads_uniform_ |= mask_.defined();
            return rebuild(e, {index, predicate});
        }
        return rebuild(e, {widen(index, lanes_), both(mask_, predicate)});
    }

    /// The lanes' elements of a buffer with one copy per lane.
    Expr spread(const Expr &index) {
        Type type = index.type().element_of();
        Expr lanes = make_ramp(make_const(type, 0), make_const(type, 1), lanes_);
        return combine(Op::Add, combine(Op::Mul, index, make_const(type, lanes_)), lanes);
    }

    // Statements.

    Stmt children(const Stmt &s) {
        std::vector<Stmt> stmts;
        for (const Stmt &child : s->stmts)
            stmts.push_back(vectorize(child));
        if (s->op == StmtOp::Block)
            return make_block(std::move(stmts));
        return stmts[0].defined() ? with_children(s, s->exprs, std::move(stmts)) : Stmt();
    }

    Stmt let(const Stmt &s) {
        Expr value = vec(s->exprs[0]);
        return evaluated_once(s, {s->exprs[0]}, [&] {
            if (value.type().is_vector())
                return with_vector(s->name, value, s->exprs[0],
                                   [&] { return vectorize(s->stmts[0]); });
            ScopedBinding<Meaning> binding(vectors_, s->name,
                                           {make_variable(value.type(), s->name), {}});
            Stmt body = vectorize(s->stmts[0]);
            return body.defined() ? make_let(s->name, value, body) : body;
        });
    }

    Stmt assertion(const Stmt &s) {
        Expr condition = vec(s->exprs[0]);
        bool varies = condition.type().is_vector();
        for (size_t i = 1; i < s->exprs.size(); i++)
            varies |= vec(s->exprs[i]).type().is_vector();
        if (!varies && !mask_.defined())
            return s;
        Expr fails = all_lanes(Op::Or, both(mask_, negated(condition)));
        return make_if(fails, lane_by_lane(s));  // which says for which lane
    }

    Stmt branch(const Stmt &s) {
        const Expr &scalar = s->exprs[0];
        Expr condition = vec(scalar);
        const Stmt &then_case = s->stmts[0], &else_case = s->stmts[1];
        return evaluated_once(s, {scalar}, [&] {
            if (condition.type().is_scalar())
                return uniform_branch(s, condition);
            if (!else_case.defined())
                return with_mask(condition, scalar, [&] { return vectorize(then_case); });
            std::string name = of_depth(".if");
            Expr decided =
                make_variable(condition.type(), name);  // before then_case changes memory
            Stmt t = with_mask(decided, scalar, [&] { return vectorize(then_case); });
            Stmt f =
                with_mask(negated(decided), make_not(scalar), [&] { return vectorize(else_case); });
            Stmt arms = make_block({t, f});
            return arms.defined() ? make_let(name, condition, arms) : arms;
        });
    }

    Stmt uniform_branch(const Stmt &s, const Expr &condition) {
        Stmt t = vectorize(s->stmts[0]), f = vectorize(s->stmts[1]);
        if (!t.defined() && !f.defined())
            return Stmt();
        return t.defined() ? make_if(condition, t, f) : make_if(negated(condition), f);
    }

    Stmt loop(const Stmt &s) {
        if (s->kind == LoopKind::Parallel)
            return lane_by_lane(s);
        Expr min = vec(s->exprs[0]), extent = vec(s->exprs[1]);
        return evaluated_once(s, {s->exprs[0], s->exprs[1]}, [&] {
            if (min.type().is_vector() || extent.type().is_vector())
                return ragged_loop(s, min, extent);
            ScopedBinding<Meaning> binding(vectors_, s->name,
                                           {make_variable(min.type(), s->name), {}});
            Stmt body = vectorize(s->stmts[0]);
            return body.defined() ? make_for(s->name, min, extent, s->kind, body, s->partition)
                                  : body;
        });
    }

    /// Lanes have different bounds: counts from 0 to the longest extent. The names of the bounds must
    /// differ from "<loop>.min.v", which is what a region's "<loop>.min" becomes.
    Stmt ragged_loop(const Stmt &s, const Expr &min, const Expr &extent) {
        Type type = min.type().element_of();
        Expr step = make_variable(type, s->name + ".step");
        Expr extents = make_variable(extent.type().with_lanes(lanes_), s->name + ".lane_extent");
        bool partial = mask_.defined();
        Expr lengths =
            partial ? make_select(mask_, extents, make_const(extents.type(), 0)) : extents;
        auto masked_body = [&] {
            return with_mask(combine(Op::LT, step, extents), make_binary(Op::LT, step, s->exprs[1]),
                             [&] { return vectorize(s->stmts[0]); });
        };
        Stmt body;
        Expr min_of_lane = make_variable(min.type(), s->name + ".lane_min");
        if (min.type().is_scalar()) {
            ScopedBinding<Meaning> binding(vectors_, s->name, {make_variable(type, s->name), {}});
            body = masked_body();
            if (body.defined())
                body = make_let(s->name, add(min_of_lane, step), body);
        } else {
            body = with_vector(s->name, combine(Op::Add, min_of_lane, step), add(s->exprs[0], step),
                               masked_body);
        }
        if (!body.defined())
            return body;
        Stmt result = make_for(step->name, make_const(type, 0), all_lanes(Op::Max, lengths),
                               LoopKind::Serial, body);
        result = make_let(extents->name, widen(extent, lanes_), result);
        return make_let(min_of_lane->name, min, result);
    }

    Stmt allocate(const Stmt &s) {
        std::vector<Expr> sizes;
        for (const Expr &size : s->exprs)
            sizes.push_back(all_lanes(Op::Max, vec(size)));
        sizes.push_back(make_const(sizes.empty() ? Int(32) : sizes[0].type(), lanes_));
        copies_.insert(s->name);
        Stmt body = vectorize(s->stmts[0]);
        copies_.erase(s->name);
        return body.defined() ? with_children(s, sizes, {body}) : body;
    }

    Stmt store(const Stmt &s) {
        Expr value = vec(s->exprs[0]), index = vec(s->exprs[1]);
        Expr predicate = both(mask_, vec(s->exprs[2]));
        if (copies_.count(s->name))
            index = spread(index);
        if (index.type().is_scalar())
            return store_to_one(s, value, index, predicate);
        if (s->atomic || depends_on_other_lane(s, index))
            return lane_by_lane(s);
        return make_store(s->name, index, widen(value, lanes_), predicate);
    }

    /// All lanes store to the same element.
    Stmt store_to_one(const Stmt &s, const Expr &value, const Expr &index, const Expr &predicate) {
        bool partial = predicate.defined() && predicate.type().is_vector();
        if (!buffers_read(s->exprs[0]).count(s->name)) {
            if (value.type().is_vector())
                return partial ? lane_by_lane(s) : last_lane(s);
            if (!partial)
                return make_store(s->name, index, value, predicate);  // one write is one step
            return make_if(all_lanes(Op::Or, predicate), make_store(s->name, index, value));
        }
        auto update = as_update(s);
        if (!update || (predicate.defined() && !partial))
            return lane_by_lane(s);
        Expr lanes = widen(vec(update->value), lanes_);
        if (partial)
            lanes = make_select(predicate, lanes, identity(update->op, lanes.type()));
        Expr all = all_lanes(update->op, lanes);
        Expr combined = make_binary(update->subtract ? Op::Sub : update->op, vec(update->old), all);
        Stmt result = make_store(s->name, index, combined);
        if (s->atomic)
            result = as_atomic(result);
        return partial ? make_if(all_lanes(Op::Or, predicate), result) : result;
    }

    /// Whether what one lane reads may be what an earlier lane wrote in the same statement.
    bool depends_on_other_lane(const Stmt &s, const Expr &index) {
        if (copies_.count(s->name))
            return false;
        const Expr &value = s->exprs[0];
        if (!buffers_read(value).count(s->name))
            return false;
        bool distinct = index->op == Op::Ramp && !is_const(index->args[1], 0);
        if (!distinct)
            return true;
        return contains(value, [&](const ExprNode &e) {
            return e.op == Op::Load && e.name == s->name && trails(vec(e.args[0]), index);
        });
    }

    /// Whether a ramp of loads reads what a ramp of stores writes some lanes earlier.
    bool trails(const Expr &load, const Expr &store) {
        int64_t stride = 0, distance = 0;
        if (load->op != Op::Ramp || !equal(load->args[1], store->args[1]))
            return false;
        if (!as_const_int(store->args[1], &stride))
            return false;
        if (!as_const_int(simplify(sub(store->args[0], load->args[0])), &distance))
            return false;
        int64_t lanes = distance / stride;
        return lanes * stride == distance && lanes > 0 && lanes < lanes_;
    }

    const std::string loop_;
    const Expr min_;
    const int lanes_;
    const Expr lane_;                   ///< the number of the lane, in code for one lane
    Scope<Meaning> vectors_;            ///< what a name of the scalar code means in vector code
    std::set<std::string> copies_;      ///< buffers with one copy per lane
    std::vector<Enclosing> enclosing_;  ///< outermost first
    Expr mask_;                         ///< the lanes that are on; undefined = all
    int depth_ = 0;                     ///< how many masks are nested here
    int arms_ = 0;                      ///< how many if_then_else are nested here
    int lane_loops_ = 0;                ///< how much code for single lanes was made
    bool is_phase_ = false;             ///< the lanes are those of one phase
    bool reads_uniform_ = false;        ///< a load under the mask has one address for all lanes
    std::unordered_map<const ExprNode *, Expr> done_;
    Phases phases_;
};

class VectorizeLoops : public Mutator {
  public:
    explicit VectorizeLoops(const graph::Graph *graph) : graph_(graph) {}
    using Mutator::mutate;
    Expr mutate(const Expr &e) override { return e; }

    Stmt mutate(const Stmt &s) override {
        if (!is_vectorized_loop(*s.get()))
            return Mutator::mutate(s);
        Expr extent = simplify(s->exprs[1]);
        int64_t lanes = lanes_of(s, extent);
        if (lanes <= 0)
            return make_evaluate(make_const(Int(32), 0));
        if (any_stmt(s->stmts[0], is_vectorized_loop))
            return Mutator::mutate(
                make_for(s->name, s->exprs[0], extent, LoopKind::Serial, s->stmts[0]));
        Stmt body = s->stmts[0];
        if (!is_const_int(extent)) {
            Expr end = add(s->exprs[0], extent);
            body = make_if(make_binary(Op::LT, make_variable(end.type(), s->name), end), body);
        }
        if (lanes == 1)
            return make_let(s->name, s->exprs[0], body);
        body = LoopVectorizer(s, static_cast<int>(lanes)).vectorize(body);
        return body.defined() ? body : make_evaluate(make_const(Int(32), 0));
    }

  private:
    const graph::Graph *graph_;

    /// As many as the loop can have iterations; where it may have fewer, the rest is masked.
    int64_t lanes_of(const Stmt &s, const Expr &extent) const {
        std::optional<int64_t> most = most_iterations(extent);
        if (!most)
            throw CompileError(
                "Cannot vectorize loop " + s->name + origin(graph_, s->name) + ": its extent " +
                ir::to_string(s->exprs[1]) +
                " is not constant. Split it by a constant factor and vectorize the inner loop.");
        int64_t lanes = *most;
        if (lanes > max_lanes)
            throw CompileError("Cannot vectorize loop " + s->name + origin(graph_, s->name) + ": " +
                               std::to_string(lanes) + " lanes are too many (at most " +
                               std::to_string(max_lanes) +
                               "). Split it by a smaller factor and vectorize the inner loop.");
        return lanes;
    }

    static constexpr int64_t max_lanes = 1024;
};

}  // namespace

Stmt vectorize_loops(const Stmt &s, const graph::Graph *graph) {
    return VectorizeLoops(graph).mutate(s);
}

}  // namespace Pipe::lower
