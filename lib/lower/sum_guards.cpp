#include "lower/sum_guards.h"

#include <algorithm>

#include "ir/substitute.h"
#include "ir/visit.h"
#include "lower/conditions.h"
#include "lower/lanes.h"
#include "lower/loop_ends.h"

namespace Pipe::lower {

using namespace ir;

bool fails_with(const Linear &margin, const Linear &other) {
    Linear difference = margin;
    return difference.add(other, -1) && difference.is_constant() && difference.constant <= 0;
}

Stmt WithoutGuards::operator()(const Stmt &s) {
    switch (s->op) {
    case StmtOp::Store:
        if (masks_ == 0)
            any_.emplace().clear();
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

Stmt WithoutGuards::block(const Stmt &s) {
    std::vector<Stmt> stmts;
    for (const Stmt &child : s->stmts)
        if (stmts.push_back((*this)(child)); !stmts.back().defined())
            return {};
    return make_block(std::move(stmts));
}

Stmt WithoutGuards::loop(const Stmt &s) {
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

Stmt WithoutGuards::guard(const Stmt &s) {
    const bool masks = !loops_.empty() && loops_.back()->kind == LoopKind::Vectorized;
    if (only_lanes_ && !masks) {
        const Stmt body = (*this)(s->then_case());
        return body.defined() ? make_if(s->condition(), body) : body;
    }
    Expr condition = s->condition();
    for (auto let = lets_.rbegin(); let != lets_.rend(); ++let)
        if (!loads_or_calls(let->second))
            condition = substitute(let->first, let->second, condition);
    std::vector<Expr> parts;
    take_apart(condition, parts);
    Expr rest;
    std::vector<Linear> some;
    const size_t before = margins.size();
    for (const Expr &part : parts) {
        const auto least = of_all(part, lower::least), most = of_all(part, greatest);
        if (least && most)
            margins.push_back(*least), some.push_back(*most);
        else
            rest = both(rest, part);
    }
    if (masks && masks_ == 0)
        keep_common(some);
    has_masks |= masks;
    is_done_by_lanes |= margins.size() > before && masks && target_ &&
                        takes_less_lane_by_lane(s->then_case(), *target_);
    masks_ += masks;
    Stmt body = (*this)(s->then_case());
    masks_ -= masks;
    return body.defined() && rest.defined() ? make_if(rest, body) : body;
}

void WithoutGuards::keep_common(const std::vector<Linear> &some) {
    if (!any_)
        any_ = some;
    std::erase_if(*any_, [&](const Linear &margin) {
        return std::none_of(some.begin(), some.end(), [&](const Linear &other) {
            return fails_with(margin, other) && fails_with(other, margin);
        });
    });
}

std::optional<Linear> WithoutGuards::of_all(const Expr &comparison,
                                            decltype(lower::least) extreme) const {
    if (loads_or_calls(comparison))
        return {};
    std::vector<const StmtNode *> at_once;
    for (const StmtNode *loop : loops_)
        if (loop->kind != LoopKind::Serial)
            at_once.push_back(loop);
    auto margin = extreme(margin_of(comparison), at_once);
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

}  // namespace Pipe::lower
