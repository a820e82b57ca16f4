#include "lower/vectorize_stmts.h"

#include <algorithm>
#include <optional>

#include "ir/equal.h"
#include "ir/scope.h"
#include "ir/simplify.h"
#include "ir/substitute.h"
#include "ir/visit.h"
#include "lower/lane_dependence.h"
#include "lower/lanes.h"
#include "lower/loop_ends.h"
#include "lower/update.h"
#include "lower/vectorize_exprs.h"
#include "support/error_text.h"

namespace Pipe::lower {

using namespace ir;

namespace {

bool overlaps(const std::set<std::string> &a, const std::set<std::string> &b) {
    return std::any_of(a.begin(), a.end(), [&](const std::string &name) { return b.count(name); });
}

/// Rewrites the body of one vectorized loop.
class LoopVectorizer {
  public:
    LoopVectorizer(const Stmt &loop, int lanes, const Target *target)
        : target_(target), loop_(loop), lanes_{loop->name, loop->min(), lanes}, exprs_(lanes_) {
        const Expr &min = lanes_.min;
        lanes_.set_ramp(loop->name, make_ramp(min, make_const(min.type(), 1), lanes));
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
        case StmtOp::Exclusive:
            return lane_by_lane(s);
        case StmtOp::Fork:
        case StmtOp::Acquire:
        case StmtOp::Release:
            throw CompileError(
                "async: " +
                support::marked(support::Field::Func, s->name.substr(0, s->name.find('.'))) +
                " would be a task in each lane of the vectorized loop " + lanes_.loop +
                ". Compute and store it outside of that loop.");
        case StmtOp::Memoize:
            throw CompileError("memoize: " + support::marked(support::Field::Func, s->name) +
                               " would be looked up in each lane of the vectorized loop " +
                               lanes_.loop + ". Compute it outside of that loop.");
        default:
            return children(s);
        }
    }

  private:
    // What encloses the statement.

    /// f() with `name` bound to a vector, known as `scalar` in code for one lane.
    template <typename F>
    Stmt with_vector(const std::string &name, const Expr &vector, const Expr &scalar, F &&f) {
        Expr variable = make_variable(vector.type(), name + ".v");
        lanes_.enclosing.push_back({StmtOp::Let, name, scalar});
        // (Each phase evaluates the ramp's base again.)
        Expr ramp = exprs_.seen_through(scalar);
        bool even = ramp->op == Op::Ramp && buffers_read(ramp).empty();
        ScopedBinding<Lanes::Meaning> binding(lanes_.vectors, name,
                                              {variable, even ? ramp : Expr()});
        Stmt body = f();
        lanes_.enclosing.pop_back();
        return body.defined() ? make_let(variable->name, vector, body) : body;
    }

    /// f() where only the lanes of `vector` are on; `scalar` is the same condition for one lane.
    template <typename F> Stmt with_mask(const Expr &vector, const Expr &scalar, F &&f) {
        Expr outer = lanes_.mask;
        Expr mask = both(lanes_.mask, vector);
        bool is_named = mask->op == Op::Variable;
        std::string name = is_named ? mask->name : of_depth(".mask");
        bool outer_reads_uniform = lanes_.reads_uniform;
        depth_++;
        lanes_.reads_uniform = false;
        lanes_.mask = make_variable(mask.type(), name);
        lanes_.enclosing.push_back({StmtOp::If, "", scalar});
        Stmt body = f();
        lanes_.enclosing.pop_back();
        if (lanes_.reads_uniform && body.defined())
            body = make_if(all_lanes(Op::Or, lanes_.mask), body);
        lanes_.mask = outer;
        lanes_.reads_uniform = lanes_.reads_uniform || outer_reads_uniform;
        depth_--;
        return body.defined() && !is_named ? make_let(name, mask, body) : body;
    }

    std::string of_depth(const char *what) const {
        return lanes_.loop + what + (depth_ == 0 ? "" : "." + std::to_string(depth_));
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
        for (auto it = lanes_.enclosing.rbegin(); it != lanes_.enclosing.rend(); ++it) {
            if (it->op == StmtOp::If)
                body = make_if(own_copy(it->value), body);
            else if (uses_var(body, it->name))
                body = make_let(it->name, own_copy(it->value), body);
        }
        return body;
    }

    /// Its number.
    Expr lane() const { return sub(make_variable(lanes_.min.type(), lanes_.loop), lanes_.min); }

    Stmt lane_by_lane(const Stmt &s, Partitioning partition = Partitioning::Never) {
        lane_loops_++;
        return make_for(lanes_.loop, lanes_.min, make_const(lanes_.min.type(), lanes_.count),
                        LoopKind::Serial, for_one_lane(s), partition, loop_->origin);
    }

    Stmt last_lane(const Stmt &s) {
        lane_loops_++;
        return make_let(lanes_.loop,
                        add(lanes_.min, make_const(lanes_.min.type(), lanes_.count - 1)),
                        for_one_lane(s));
    }

    /// Scalar code that uses this lane's copy of what is allocated inside of the loop.
    template <typename T> T own_copy(const T &code) {
        if (lanes_.copies.empty())
            return code;
        struct OwnCopy : GraphMutator {
            LoopVectorizer &outer;
            explicit OwnCopy(LoopVectorizer &o) : outer(o) {}
            using GraphMutator::mutate;
            Expr rewrite(const Expr &e) override {
                Expr now = GraphMutator::rewrite(e);
                if (now->op != Op::Load || !outer.lanes_.copies.count(now->name))
                    return now;
                return make_load(now.type(), now->name, element(now->element()), now->predicate());
            }
            Stmt mutate(const Stmt &s) override {
                Stmt now = GraphMutator::mutate(s);
                if (now->op != StmtOp::Store || !outer.lanes_.copies.count(now->name))
                    return now;
                return with_children(now, {now->value(), element(now->index()), now->predicate()},
                                     {});
            }
            Expr element(const Expr &index) {
                Type type = index.type();
                return add(mul(index, make_const(type, outer.lanes_.count)),
                           make_cast(type, outer.lane()));
            }
        };
        return OwnCopy(*this).mutate(code);
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
        if (feeds_later_lanes(*s.get(), lanes_, exprs_))
            return lane_by_lane(s);
        Expr value = exprs_.vec(s->value());
        return evaluated_once(s, {s->value()}, [&] {
            if (value.type().is_vector())
                return with_vector(s->name, value, s->value(),
                                   [&] { return vectorize(s->body()); });
            ScopedBinding<Lanes::Meaning> binding(lanes_.vectors, s->name,
                                                  {make_variable(value.type(), s->name), {}});
            Stmt body = vectorize(s->body());
            return body.defined() ? make_let(s->name, value, body) : body;
        });
    }

    Stmt assertion(const Stmt &s) {
        Expr condition = exprs_.vec(s->condition());
        bool varies = condition.type().is_vector();
        for (size_t i = 1; i < s->exprs.size(); i++)
            varies |= exprs_.vec(s->exprs[i]).type().is_vector();
        if (!varies && !lanes_.mask.defined())
            return s;
        Expr fails = all_lanes(Op::Or, both(lanes_.mask, negated(condition)));
        return make_if(fails, lane_by_lane(s));  // which says for which lane
    }

    /// if (a && b) with a first where that is the same in all lanes and b is not: what all lanes skip needs
    /// no masks. Undefined where there is no such a.
    Stmt uniform_first(const Stmt &s) {
        Expr uniform, varying;
        auto sort = [&](auto &&self, const Expr &e) -> void {
            if (e->op == Op::And) {
                self(self, e->a());
                self(self, e->b());
                return;
            }
            bool same = buffers_read(e).empty() && exprs_.vec(e).type().is_scalar();
            Expr &part = same ? uniform : varying;
            part = part.defined() ? make_binary(Op::And, part, e) : e;
        };
        sort(sort, s->condition());
        if (!uniform.defined() || !varying.defined())
            return Stmt();
        return make_if(uniform, make_if(varying, s->then_case()));
    }

    Stmt branch(const Stmt &s) {
        if (!s->else_case().defined())
            if (Stmt nested = uniform_first(s); nested.defined())
                return vectorize(nested);
        const Expr &scalar = s->condition();
        Expr condition = exprs_.vec(scalar);
        const Stmt &then_case = s->then_case(), &else_case = s->else_case();
        return evaluated_once(s, {scalar}, [&] {
            if (condition.type().is_scalar())
                return uniform_branch(s, condition);
            if (!else_case.defined() && is_end(condition) && better_lane_by_lane(then_case))
                return all_or_single_lanes(s, condition);
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

    /// Not where lets outside of s read what s writes: lane by lane, those would see it.
    bool better_lane_by_lane(const Stmt &s) const {
        return target_ && takes_less_lane_by_lane(s, *target_) &&
               std::none_of(lanes_.enclosing.begin(), lanes_.enclosing.end(),
                            [&](const Lanes::Enclosing &outer) {
                                return overlaps(buffers_read(outer.value), buffers_written(s));
                            });
    }

    Stmt all_or_single_lanes(const Stmt &s, const Expr &condition) {
        Stmt vectors = vectorize(s->then_case());
        return vectors.defined() ? make_if(holds_in_all(condition), vectors,
                                           lane_by_lane(s, Partitioning::Remainder))
                                 : vectors;
    }

    Stmt uniform_branch(const Stmt &s, const Expr &condition) {
        Stmt t = vectorize(s->then_case()), f = vectorize(s->else_case());
        if (!t.defined() && !f.defined())
            return Stmt();
        return t.defined() ? make_if(condition, t, f) : make_if(negated(condition), f);
    }

    Stmt loop(const Stmt &s) {
        if (s->kind == LoopKind::Parallel)
            return lane_by_lane(s);
        Expr min = exprs_.vec(s->min()), extent = exprs_.vec(s->extent());
        return evaluated_once(s, {s->min(), s->extent()}, [&] {
            if (min.type().is_vector() || extent.type().is_vector())
                return ragged_loop(s, min, extent);
            ScopedBinding<Lanes::Meaning> binding(lanes_.vectors, s->name,
                                                  {make_variable(min.type(), s->name), {}});
            Stmt body = vectorize(s->body());
            return body.defined() ? with_children(s, {min, extent}, {body}) : body;
        });
    }

    /// Lanes have different bounds: counts from 0 to the longest extent. The names of the bounds must
    /// differ from "<loop>.min.v", which is what a region's "<loop>.min" becomes.
    Stmt ragged_loop(const Stmt &s, const Expr &min, const Expr &extent) {
        Type type = min.type().element_of();
        Expr step = make_variable(type, s->name + ".step");
        Expr extents =
            make_variable(extent.type().with_lanes(lanes_.count), s->name + ".lane_extent");
        bool partial = lanes_.mask.defined();
        Expr lengths =
            partial ? make_select(lanes_.mask, extents, make_const(extents.type(), 0)) : extents;
        auto masked_body = [&] {
            return with_mask(combine(Op::LT, step, extents), make_binary(Op::LT, step, s->extent()),
                             [&] { return vectorize(s->body()); });
        };
        Stmt body;
        Expr min_of_lane = make_variable(min.type(), s->name + ".lane_min");
        if (min.type().is_scalar()) {
            ScopedBinding<Lanes::Meaning> binding(lanes_.vectors, s->name,
                                                  {make_variable(type, s->name), {}});
            body = masked_body();
            if (body.defined())
                body = make_let(s->name, add(min_of_lane, step), body);
        } else {
            body = with_vector(s->name, combine(Op::Add, min_of_lane, step), add(s->min(), step),
                               masked_body);
        }
        if (!body.defined())
            return body;
        Stmt result = make_for(step->name, make_const(type, 0), all_lanes(Op::Max, lengths),
                               LoopKind::Serial, body, Partitioning::Auto, s->origin);
        result = make_let(extents->name, widen(extent, lanes_.count), result);
        return make_let(min_of_lane->name, min, result);
    }

    Stmt allocate(const Stmt &s) {
        std::vector<Expr> sizes;
        for (const Expr &size : s->exprs)
            sizes.push_back(all_lanes(Op::Max, exprs_.vec(size)));
        sizes.push_back(make_const(sizes.empty() ? Int(32) : sizes[0].type(), lanes_.count));
        lanes_.copies.insert(s->name);
        Stmt body = vectorize(s->body());
        lanes_.copies.erase(s->name);
        return body.defined() ? with_children(s, sizes, {body}) : body;
    }

    Stmt store(const Stmt &s) {
        Expr value = exprs_.vec(s->value()), index = exprs_.vec(s->index());
        Expr predicate = both(lanes_.mask, exprs_.vec(s->predicate()));
        if (lanes_.copies.count(s->name))
            index = exprs_.spread(index);
        if (index.type().is_scalar())
            return store_to_one(s, value, index, predicate);
        if (s->atomic || depends_on_other_lane(s->value(), s->name, s->index(), lanes_, exprs_))
            return lane_by_lane(s);
        return make_store(s->name, index, widen(value, lanes_.count), predicate);
    }

    /// All lanes store to the same element.
    Stmt store_to_one(const Stmt &s, const Expr &value, const Expr &index, const Expr &predicate) {
        bool partial = predicate.defined() && predicate.type().is_vector();
        if (!buffers_read(s->value()).count(s->name)) {
            if (value.type().is_vector())
                return partial ? lane_by_lane(s) : last_lane(s);
            if (!partial)
                return make_store(s->name, index, value, predicate);  // one write is one step
            return make_if(all_lanes(Op::Or, predicate), make_store(s->name, index, value));
        }
        auto update = as_update(s);
        if (!update || (predicate.defined() && !partial))
            return lane_by_lane(s);
        Expr lanes = widen(exprs_.vec(update->value), lanes_.count);
        if (partial)
            lanes = make_select(predicate, lanes, identity(update->op, lanes.type()));
        Expr all = all_lanes(update->op, lanes);
        Expr combined =
            make_binary(update->subtract ? Op::Sub : update->op, exprs_.vec(update->old), all);
        Stmt result = make_store(s->name, index, combined);
        if (s->atomic)
            result = as_atomic(result);
        return partial ? make_if(all_lanes(Op::Or, predicate), result) : result;
    }

    const Target *target_;
    const Stmt loop_;
    Lanes lanes_;
    ExprVectorizer exprs_;
    int depth_ = 0;       ///< how many masks are nested here
    int lane_loops_ = 0;  ///< how much code for single lanes was made
};

}  // namespace

Stmt vectorize_body(const Stmt &loop, const Stmt &body, int lanes, const Target *target) {
    return LoopVectorizer(loop, lanes, target).vectorize(body);
}

}  // namespace Pipe::lower
