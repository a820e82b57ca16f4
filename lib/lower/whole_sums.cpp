#include "lower/whole_sums.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "ir/equal.h"
#include "ir/simplify.h"
#include "ir/substitute.h"
#include "ir/visit.h"
#include "lower/conditions.h"
#include "lower/lanes.h"
#include "lower/loop_ends.h"
#include "lower/margins.h"

namespace Pipe::lower {

using namespace ir;

namespace {

/// Whether `margin` is not positive where `other` is not.
bool fails_with(const Linear &margin, const Linear &other) {
    Linear difference = margin;
    return difference.add(other, -1) && difference.is_constant() && difference.constant <= 0;
}

/// The statements of an array without the guards that can be decided for all of it at once.
class WithoutGuards {
  public:
    explicit WithoutGuards(const Target *target) : target_(target) {}

    std::vector<Linear> margins;    ///< positive where all these guards hold
    bool takes_long = false;        ///< has serial loops of many iterations in all
    bool has_masks = false;         ///< lanes that are guarded
    bool is_done_by_lanes = false;  ///< a vector that is guarded

    /// Undefined where it cannot tell.
    Stmt operator()(const Stmt &s) {
        switch (s->op) {
        case StmtOp::Store:
            return s;
        case StmtOp::Block:
            return block(s);
        case StmtOp::For:
            return loop(s);
        case StmtOp::Let: {
            lets_.emplace_back(s->name, s->value());
            Stmt body = (*this)(s->body());
            lets_.pop_back();
            return body.defined() ? with_children(s, s->exprs, {body}) : body;
        }
        case StmtOp::If:
            return s->else_case().defined() ? Stmt() : guard(s);
        default:
            return {};
        }
    }

  private:
    const Target *target_;
    static constexpr int64_t many = 32;
    int64_t iterations_ = 1;  ///< of the serial loops around
    std::vector<const StmtNode *> loops_;
    std::vector<std::pair<std::string, Expr>> lets_;

    Stmt block(const Stmt &s) {
        std::vector<Stmt> stmts;
        for (const Stmt &child : s->stmts)
            if (stmts.push_back((*this)(child)); !stmts.back().defined())
                return {};
        return make_block(std::move(stmts));
    }

    Stmt loop(const Stmt &s) {
        if (is_threaded(s->kind))
            return {};
        int64_t extent = many;
        if (s->kind == LoopKind::Serial && !as_const_int(s->extent(), &extent))
            extent = many;
        const int64_t around = iterations_;
        iterations_ = std::min(many, iterations_ * (s->kind == LoopKind::Serial ? extent : 1));
        takes_long |= iterations_ >= many;
        loops_.push_back(s.get());
        Stmt body = (*this)(s->body());
        loops_.pop_back();
        iterations_ = around;
        return body.defined() ? with_children(s, s->exprs, {body}) : body;
    }

    Stmt guard(const Stmt &s) {
        Expr condition = s->condition();
        for (auto let = lets_.rbegin(); let != lets_.rend(); ++let)
            if (!loads_or_calls(let->second))
                condition = substitute(let->first, let->second, condition);
        std::vector<Expr> parts;
        take_apart(condition, parts);
        Expr rest;
        const size_t before = margins.size();
        for (const Expr &part : parts) {
            if (const auto margin = of_all(part))
                margins.push_back(*margin);
            else
                rest = both(rest, part);
        }
        has_masks |= !loops_.empty() && loops_.back()->kind == LoopKind::Vectorized;
        is_done_by_lanes |= margins.size() > before && !loops_.empty() && target_ &&
                            loops_.back()->kind == LoopKind::Vectorized &&
                            takes_less_lane_by_lane(s->then_case(), *target_);
        Stmt body = (*this)(s->then_case());
        return body.defined() && rest.defined() ? make_if(rest, body) : body;
    }

    /// A margin that is positive where the comparison holds for all rows and lanes. Nothing where it is another one for each
    /// iteration of a serial loop, as at the end of a sum that is computed by vectors: that is a steady state's.
    std::optional<Linear> of_all(const Expr &comparison) const {
        if (loads_or_calls(comparison))
            return {};
        std::vector<const StmtNode *> at_once;
        for (const StmtNode *loop : loops_)
            if (loop->kind != LoopKind::Serial)
                at_once.push_back(loop);
        auto margin = least(margin_of(comparison), at_once);
        const auto depends = [&](const std::string &name) {
            return margin && depends_on(*margin, name);
        };
        if (std::any_of(loops_.begin(), loops_.end(),
                        [&](const StmtNode *loop) { return depends(loop->name); }) ||
            std::any_of(lets_.begin(), lets_.end(),
                        [&](const auto &let) { return depends(let.first); }))
            return {};
        return margin;
    }
};

/// The unrolled loops are serial.
Stmt rolled(const Stmt &s) {
    Stmt now = map_children(
        s, [](const Expr &e) { return e; }, rolled);
    if (now->op != StmtOp::For || now->kind != LoopKind::Unrolled)
        return now;
    return make_for(now->name, now->min(), now->extent(), LoopKind::Serial, now->body(),
                    Partitioning::Remainder, now->origin);
}

/// The serial loops are those of a remainder.
Stmt as_remainder(const Stmt &s) {
    Stmt now = map_children(
        s, [](const Expr &e) { return e; }, as_remainder);
    if (now->op != StmtOp::For || now->kind != LoopKind::Serial)
        return now;
    return make_for(now->name, now->min(), now->extent(), now->kind, now->body(),
                    Partitioning::Remainder, now->origin);
}

/// Arrays of sums, one inside of the other, and what uses them.
struct Sums {
    explicit Sums(const Stmt &s) {
        body = s;
        for (; body->op == StmtOp::Allocate; body = body->body())
            arrays.push_back(body);
    }
    bool has(const std::string &name) const {
        return std::any_of(arrays.begin(), arrays.end(),
                           [&](const Stmt &a) { return a->name == name; });
    }
    /// The arrays around another statement.
    Stmt around(Stmt s) const {
        for (auto array = arrays.rbegin(); array != arrays.rend(); ++array)
            s = with_children(*array, (*array)->exprs, {s});
        return s;
    }

    std::vector<Stmt> arrays;
    Stmt body;
};

/// Another number in place of a row's: in indices of the arrays, and elsewhere.
class OfRow : public GraphMutator {
  public:
    OfRow(const Sums &sums, const std::string &row, Expr in_arrays, Expr elsewhere)
        : sums_(sums), row_(row), in_arrays_(std::move(in_arrays)),
          elsewhere_(std::move(elsewhere)) {}
    using GraphMutator::mutate;
    Stmt mutate(const Stmt &s) override {
        if (s->op != StmtOp::Store || !sums_.has(s->name))
            return GraphMutator::mutate(s);
        std::vector<Expr> exprs = s->exprs;
        for (size_t i = 0; i < exprs.size(); i++)
            if (exprs[i].defined())
                exprs[i] = i == index_of_store ? place(exprs[i]) : mutate(exprs[i]);
        return with_children(s, std::move(exprs), {});
    }

  private:
    static constexpr size_t index_of_store = 1;
    const Sums &sums_;
    const std::string &row_;
    const Expr in_arrays_, elsewhere_;

    Expr place(const Expr &index) const { return simplify(substitute(row_, in_arrays_, index)); }

    Expr rewrite(const Expr &e) override {
        if (e->op == Op::Variable && e->name == row_)
            return elsewhere_;
        if (e->op != Op::Load || !sums_.has(e->name))
            return GraphMutator::rewrite(e);
        std::vector<Expr> args = e->args;
        args[0] = place(args[0]);
        for (size_t i = 1; i < args.size(); i++)
            if (args[i].defined())
                args[i] = mutate(args[i]);
        return with_args(e, std::move(args));
    }
};

/// A block whose rows are computed a few at a time: `row` is the loop over them.
class Rows {
  public:
    Rows(const Sums &sums, Stmt row) : sums_(sums), row_(std::move(row)) {}

    /// Half of them at a time, where these are all needed, else one by one. Undefined where not all statements have rows,
    /// or where they are not independent.
    Stmt few_at_a_time() {
        const Stmt single = without_row(sums_.body, false);
        if (!single.defined() || !are_own(single) || !guard_is_known_outside())
            return {};
        const Type type = row_->min().type();
        int64_t extent = 0;
        as_const_int(row_->extent(), &extent);
        const int64_t half = extent / 2;
        if (extent % 2 != 0 || half < 2 || !falls())
            return one_by_one(single, row_->min(), row_->extent());
        const Expr group = make_variable(type, row_->name + ".half"), rows = make_const(type, half);
        const Expr first = add(row_->min(), mul(group, rows));
        Stmt block = at(with_rows(sums_.body, rows), make_variable(type, row_->name),
                        add(make_variable(type, row_->name), mul(group, rows)));
        if (guard_.defined())
            block = make_if(guard_of(add(first, make_const(type, half - 1))), block,
                            one_by_one(single, first, rows));
        return make_for(group->name, make_const(type, 0), make_const(type, 2), LoopKind::Serial,
                        block, Partitioning::Remainder, row_->origin);
    }

  private:
    const Sums &sums_;
    const Stmt row_;
    Expr guard_;            ///< of a row
    bool is_first_ = true;  ///< row loop that is found

    bool is_row(const Stmt &s) const { return s->op == StmtOp::For && s->name == row_->name; }

    static bool is_guarded(const Stmt &s) {
        return s->op == StmtOp::If && !s->else_case().defined();
    }

    /// Not so where it is another one for each iteration of a loop inside.
    bool guard_is_known_outside() const {
        if (!guard_.defined())
            return true;
        const std::set<std::string> outside = free_vars(sums_.body), needed = free_vars(guard_);
        return std::all_of(needed.begin(), needed.end(), [&](const std::string &name) {
            return name == row_->name || outside.contains(name);
        });
    }

    Expr guard_of(const Expr &row) const { return simplify(substitute(row_->name, row, guard_)); }

    /// Whether all rows before one that is needed are.
    bool falls() const {
        if (!guard_.defined())
            return true;
        std::vector<Expr> parts;
        take_apart(guard_, parts);
        return std::all_of(parts.begin(), parts.end(), [&](const Expr &part) {
            const auto margin = margin_of(part);
            const auto grows = margin ? growth(*margin, row_->name) : std::nullopt;
            return grows && *grows <= 0;
        });
    }

    Stmt at(const Stmt &s, const Expr &in_arrays, const Expr &elsewhere) const {
        return sums_.around(OfRow(sums_, row_->name, in_arrays, elsewhere).mutate(s));
    }

    /// The array's elements are those of the first row.
    Stmt one_by_one(const Stmt &single, const Expr &first, const Expr &count) const {
        const Expr row = make_variable(row_->min().type(), row_->name);
        Stmt body = at(single, row_->min(), row);
        if (guard_.defined())
            body = make_if(guard_, body);
        return make_for(row_->name, first, count, LoopKind::Serial, body, Partitioning::Remainder,
                        row_->origin);
    }

    /// Fewer rows, without guards.
    Stmt with_rows(const Stmt &s, const Expr &count) const {
        if (is_row(s))
            return make_for(s->name, s->min(), count, s->kind,
                            is_guarded(s->body()) ? s->body()->then_case() : s->body(),
                            s->partition, s->origin);
        return map_children(
            s, [](const Expr &e) { return e; },
            [&](const Stmt &child) { return with_rows(child, count); });
    }

    /// What a row does, without its guard, which is noted. Undefined if something is stored outside of the row's loop.
    Stmt without_row(const Stmt &s, bool inside) {
        if (s->op == StmtOp::Store)
            return inside ? s : Stmt();
        const bool row = is_row(s);
        if (row && (inside || s->kind != row_->kind || !equal(s->min(), row_->min()) ||
                    !equal(s->extent(), row_->extent())))
            return {};
        std::vector<Stmt> children;
        for (const Stmt &child : s->stmts)
            if (children.push_back(child.defined() ? without_row(child, inside || row) : child);
                child.defined() && !children.back().defined())
                return {};
        if (!row)
            return with_children(s, s->exprs, std::move(children));
        const Expr guard = is_guarded(s->body()) ? s->body()->condition() : Expr();
        if (is_first_)
            guard_ = guard;
        is_first_ = false;
        if (guard.defined() != guard_.defined() || (guard.defined() && !equal(guard, guard_)))
            return {};
        return guard.defined() ? children[0]->then_case() : children[0];
    }

    /// Whether each element of the arrays, and of what is stored, is used at one point only.
    static bool are_own(const Stmt &body) {
        std::vector<std::pair<std::string, Expr>> places;
        bool own = true;
        auto check = [&](const std::string &buffer, const Expr &index) {
            for (const auto &[name, place] : places)
                own &= name != buffer || equal(place, index);
        };
        walk(
            body,
            [&](const Stmt &s) {
                if (s->op == StmtOp::Store) {
                    check(s->name, s->index());
                    places.emplace_back(s->name, s->index());
                }
                return true;
            },
            [](const Expr &) { return false; });
        walk(
            body, [](const Stmt &) { return true; },
            [&](const Expr &e) {
                if (e->op == Op::Load)
                    check(e->name, e->element());
                return own;
            });
        return own;
    }
};

class WholeSums : public Mutator {
  public:
    explicit WholeSums(const Target *target) : target_(target) {}
    using Mutator::mutate;
    Expr mutate(const Expr &e) override { return e; }

    Stmt mutate(const Stmt &s) override {
        if (s->op == StmtOp::For && is_gpu(s->kind))
            return s;
        if (s->op == StmtOp::If && s->else_case().defined())
            return both_cases(s);
        if (s->op == StmtOp::Allocate)
            if (Stmt separate = separated(s); separate.defined())
                return separate;
        return Mutator::mutate(s);
    }

  private:
    const Target *target_;
    std::vector<std::vector<Linear>> failing_;  ///< margins that are not all positive here

    Stmt both_cases(const Stmt &s) {
        Stmt holds = mutate(s->then_case());
        std::vector<Expr> parts;
        take_apart(s->condition(), parts);
        std::vector<Linear> margins;
        for (const Expr &part : parts)
            if (const auto margin = margin_of(part))
                margins.push_back(*margin);
        const bool known = margins.size() == parts.size();
        if (known)
            failing_.push_back(std::move(margins));
        Stmt fails = mutate(s->else_case());
        if (known)
            failing_.pop_back();
        return make_if(s->condition(), holds, fails);
    }

    /// Undefined where the array stays as it is.
    Stmt separated(const Stmt &s) const {
        const Sums sums(s);
        WithoutGuards without_guards(target_);
        const Stmt whole = without_guards(sums.body);
        if (!whole.defined() || without_guards.margins.empty() ||
            !(without_guards.takes_long || without_guards.is_done_by_lanes))
            return {};
        const bool roll = without_guards.is_done_by_lanes;
        const bool by_rows = roll || !without_guards.has_masks;
        const Stmt rest = by_rows ? rows_of(sums, roll) : as_remainder(s);
        if (!rest.defined() || never_holds(without_guards.margins))
            return by_rows ? rest : Stmt();
        return make_if(condition_of(without_guards.margins), sums.around(whole), rest);
    }

    /// Whether these margins are not all positive, as would follow from what fails here.
    bool never_holds(const std::vector<Linear> &margins) const {
        return std::any_of(failing_.begin(), failing_.end(), [&](const std::vector<Linear> &fails) {
            return std::all_of(fails.begin(), fails.end(), [&](const Linear &part) {
                return std::any_of(margins.begin(), margins.end(),
                                   [&](const Linear &margin) { return fails_with(margin, part); });
            });
        });
    }

    /// That all are positive.
    static Expr condition_of(const std::vector<Linear> &margins) {
        std::vector<Linear> needed;
        for (const Linear &margin : margins) {
            std::erase_if(needed, [&](const Linear &other) { return fails_with(margin, other); });
            if (std::none_of(needed.begin(), needed.end(),
                             [&](const Linear &other) { return fails_with(other, margin); }))
                needed.push_back(margin);
        }
        Expr all;
        for (const Linear &margin : needed)
            all = both(all, make_binary(Op::GT, to_expr(margin), make_const(Int(64), 0)));
        return simplify(all);
    }

    static Stmt rows_of(const Sums &sums, bool roll) {
        Stmt row;
        walk(
            sums.body,
            [&](const Stmt &s) {
                if (!row.defined() && s->op == StmtOp::For && s->kind == LoopKind::Unrolled)
                    row = s;
                return !row.defined();
            },
            [](const Expr &) { return false; });
        const Stmt rows = row.defined() ? Rows(sums, row).few_at_a_time() : Stmt();
        return roll ? rolled(rows.defined() ? rows : sums.around(sums.body)) : rows;
    }
};

}  // namespace

Stmt whole_sums(const Stmt &s, const Target *target) {
    return WholeSums(target).mutate(s);
}

}  // namespace Pipe::lower
