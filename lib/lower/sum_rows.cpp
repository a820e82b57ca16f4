#include "lower/sum_rows.h"

#include <algorithm>
#include <set>

#include "ir/equal.h"
#include "ir/simplify.h"
#include "ir/substitute.h"
#include "ir/visit.h"
#include "lower/margins.h"

namespace Pipe::lower {

using namespace ir;

Sums::Sums(const Stmt &s) {
    body = s;
    for (; body->op == StmtOp::Allocate; body = body->body())
        arrays.push_back(body);
}

bool Sums::has(const std::string &name) const {
    return std::any_of(arrays.begin(), arrays.end(),
                       [&](const Stmt &a) { return a->name == name; });
}

Stmt Sums::around(Stmt s) const {
    for (auto array = arrays.rbegin(); array != arrays.rend(); ++array)
        s = with_children(*array, (*array)->exprs, {s});
    return s;
}

namespace {

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

}  // namespace

Stmt Rows::one_by_one(const Expr &first, const Expr &count) {
    return one_by_one(separate(), first, count);
}

Stmt Rows::together(const Expr &first, const Expr &count) {
    separate();
    const Expr row = make_variable(row_->min().type(), row_->name);
    return at(with_rows(sums_.body, count), row, add(row, sub(first, row_->min())));
}

Stmt Rows::few_at_a_time() {
    const Stmt single = separate();
    if (!single.defined())
        return {};
    const Type type = row_->min().type();
    int64_t extent = 0;
    as_const_int(row_->extent(), &extent);
    const int64_t half = extent / 2;
    if (extent % 2 != 0 || half < 2 || !falls())
        return one_by_one(single, row_->min(), row_->extent());
    const Expr group = make_variable(type, row_->name + ".half"), rows = make_const(type, half);
    const Expr first = add(row_->min(), mul(group, rows));
    Stmt block = together(first, rows);
    if (guard_.defined())
        block = make_if(guard_of(add(first, make_const(type, half - 1))), block,
                        one_by_one(single, first, rows));
    return make_for(group->name, make_const(type, 0), make_const(type, 2), LoopKind::Serial, block,
                    Partitioning::Remainder, row_->origin);
}

Stmt Rows::separate() {
    is_first_ = true;
    const Stmt single = without_row(sums_.body, false);
    return single.defined() && are_own(single) && guard_is_known_outside() ? single : Stmt();
}

bool Rows::is_row(const Stmt &s) const {
    return s->op == StmtOp::For && s->name == row_->name;
}

Expr Rows::guard_of(const Expr &row) const {
    return simplify(substitute(row_->name, row, guard_));
}

bool Rows::is_guarded(const Stmt &s) {
    return s->op == StmtOp::If && !s->else_case().defined();
}

bool Rows::guard_is_known_outside() const {
    if (!guard_.defined())
        return true;
    const std::set<std::string> outside = free_vars(sums_.body), needed = free_vars(guard_);
    return std::all_of(needed.begin(), needed.end(), [&](const std::string &name) {
        return name == row_->name || outside.contains(name);
    });
}

bool Rows::falls() const {
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

Stmt Rows::at(const Stmt &s, const Expr &in_arrays, const Expr &elsewhere) const {
    return sums_.around(OfRow(sums_, row_->name, in_arrays, elsewhere).mutate(s));
}

Stmt Rows::one_by_one(const Stmt &single, const Expr &first, const Expr &count) const {
    const Expr row = make_variable(row_->min().type(), row_->name);
    Stmt body = at(single, row_->min(), row);
    if (guard_.defined())
        body = make_if(guard_, body);
    return make_for(row_->name, first, count, LoopKind::Serial, body, Partitioning::Remainder,
                    row_->origin);
}

Stmt Rows::with_rows(const Stmt &s, const Expr &count) const {
    if (is_row(s))
        return make_for(s->name, s->min(), count, s->kind,
                        is_guarded(s->body()) ? s->body()->then_case() : s->body(), s->partition,
                        s->origin);
    return map_children(
        s, [](const Expr &e) { return e; },
        [&](const Stmt &child) { return with_rows(child, count); });
}

Stmt Rows::without_row(const Stmt &s, bool inside) {
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

bool Rows::are_own(const Stmt &body) {
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

}  // namespace Pipe::lower
