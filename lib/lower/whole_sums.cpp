#include "lower/whole_sums.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "ir/simplify.h"
#include "ir/visit.h"
#include "lower/conditions.h"
#include "lower/lanes.h"
#include "lower/sum_guards.h"
#include "lower/sum_rows.h"

namespace Pipe::lower {

using namespace ir;

namespace {

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
        Stmt rest = without_guards.has_masks ? by_vectors(sums, roll) : Stmt();
        if (!rest.defined())
            rest = by_rows ? rows_of(sums, roll) : as_remainder(s);
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

    /// The vectors of a block, half of them at a time, where these are whole: without masks; others one after the other. Undefined
    /// where that is not possible.
    Stmt by_vectors(const Sums &sums, bool roll) const {
        Stmt vectors = first_unrolled(sums.body);
        while (vectors.defined()) {
            const Stmt inner = first_unrolled(vectors->body());
            if (!inner.defined())
                break;
            vectors = inner;
        }
        int64_t count = 0;
        if (!vectors.defined() || !as_const_int(vectors->extent(), &count))
            return {};
        Rows rows(sums, vectors);
        if (!rows.are_separate())
            return {};
        const int64_t half = (count + 1) / 2;
        if (half == 1)
            return single_vectors(rows.one_by_one(vectors->min(), vectors->extent()), roll);
        const Type type = vectors->min().type();
        const Expr group = make_variable(type, vectors->name + ".half");
        const Expr before = mul(group, make_const(type, half)), first = add(vectors->min(), before);
        const Expr left = sub(vectors->extent(), before);
        const Stmt singles =
            single_vectors(rows.one_by_one(first, min(left, make_const(type, half))), roll);
        std::vector<Linear> any, whole_where;
        const Stmt whole =
            without_masks(rows.together(first, make_const(type, half)), whole_where, any);
        if (!singles.defined() || !whole.defined())
            return {};
        const Expr are_there = make_binary(Op::LE, make_const(type, half), left);
        return make_for(
            group->name, make_const(type, 0), make_const(type, 2), LoopKind::Serial,
            make_if(both(simplify(are_there), condition_of(whole_where)), whole, singles),
            Partitioning::Remainder, vectors->origin);
    }

    /// A loop over vectors that are computed one by one: without masks where all lanes are needed, not at all where none is.
    Stmt single_vectors(const Stmt &loop, bool roll) const {
        std::vector<Linear> all, any;
        Stmt whole =
            loop->body()->op == StmtOp::Allocate ? without_masks(loop->body(), all, any) : Stmt();
        if (!whole.defined())
            return {};
        const Sums one(loop->body());
        Stmt masked = roll ? rows_of(one, true) : as_remainder(loop->body());
        if (!any.empty())
            masked = make_if(condition_of(any), masked);
        return make_for(loop->name, loop->min(), loop->extent(), loop->kind,
                        make_if(condition_of(all), whole, masked), loop->partition, loop->origin);
    }

    /// Arrays of which all lanes are needed, and where that is so. Undefined where the lanes have no guards.
    Stmt without_masks(const Stmt &arrays, std::vector<Linear> &all,
                       std::vector<Linear> &any) const {
        const Sums sums(arrays);
        WithoutGuards whole_lanes(target_, true);
        const Stmt body = whole_lanes(sums.body);
        if (!body.defined() || whole_lanes.margins.empty())
            return {};
        all = whole_lanes.margins, any = whole_lanes.any();
        const Stmt whole = sums.around(body), by_rows = separated(whole);
        return by_rows.defined() ? by_rows : whole;
    }

    static Stmt first_unrolled(const Stmt &body) {
        Stmt found;
        walk(
            body,
            [&](const Stmt &s) {
                if (!found.defined() && s->op == StmtOp::For && s->kind == LoopKind::Unrolled)
                    found = s;
                return !found.defined();
            },
            [](const Expr &) { return false; });
        return found;
    }

    static Stmt rows_of(const Sums &sums, bool roll) {
        const Stmt row = first_unrolled(sums.body);
        const Stmt rows = row.defined() ? Rows(sums, row).few_at_a_time() : Stmt();
        return roll ? rolled(rows.defined() ? rows : sums.around(sums.body)) : rows;
    }
};

}  // namespace

Stmt whole_sums(const Stmt &s, const Target *target) {
    return WholeSums(target).mutate(s);
}

}  // namespace Pipe::lower
