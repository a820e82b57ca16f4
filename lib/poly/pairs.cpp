#include "poly/pairs.h"

// Spaces:
//   Pair[p0, .., pR-1, q0, .., qR-1, s0, ...]   two iterations of an update: the RVars of both, and
//                                               shared values: pure variables (different values of
//                                               which never conflict), Params, sizes
//   { Pair[p, q, s] }                           pairs that conflict

#include <set>

#include <isl/ctx.h>
#include <isl/options.h>

#include "graph/reduction.h"
#include "graph/walk.h"
#include "ir/int32.h"

namespace Pipe::poly {

using graph::FuncNode;
using graph::ReductionVar;
using graph::Stage;
using schedules::StageSchedule;

Pairs::Pairs(const FuncNode &func, const Stage &stage, const StageSchedule &s, unsigned long quota)
    : stage_(stage), dims_(s.dims), values_(stage, s.transforms) {
    raw_ = isl_ctx_alloc();
    isl_options_set_on_error(raw_, ISL_ON_ERROR_CONTINUE);
    isl_ctx_set_max_operations(raw_, quota);
    collect(func);
}

Pairs::~Pairs() {
    space_ = {};
    domain_ = {};
    isl_ctx_free(raw_);
}

Expr Pairs::conflict(size_t dim) {
    return ask([&] {
        isl::set pairs = domain_;
        for (size_t d = dim + 1; d < dims_.size(); d++)
            pairs = pairs.intersect(equal_loop(dims_[d].name));
        return pairs.intersect(differs(dims_[dim].name));
    });
}

Expr Pairs::reordered(const LoopOrder &order) {
    return ask([&] { return domain_.intersect(original_order()).intersect(reversed(order)); });
}

void Pairs::collect(const FuncNode &func) {
    accesses_.push_back(ir::make_call(func.types[0], func.name, stage_.args, ir::CallKind::Func));
    graph::IsSelf is_self = graph::calls_of(func.id);
    graph::Walk walk;
    std::set<std::string> names;
    auto visit = [&](const ir::ExprNode &node) {
        if (is_self(node))
            accesses_.push_back(Expr(&node));
        if (node.op == ir::Op::Variable)
            names.insert(node.name);
    };
    graph::for_each_expr(stage_, [&](const Expr &e) { walk(e, visit); });
    for (const ReductionVar &r : stage_.rvars)
        walk(r.min, visit), walk(r.extent, visit);
    for (const ReductionVar &r : stage_.rvars)
        names.erase(r.name);
    shared_.assign(names.begin(), names.end());
}

/// Runs the test; any failure counts as a conflict with the write itself.
template <typename F> Expr Pairs::ask(F &&make_pairs) {
    isl_ctx_reset_operations(raw_);
    isl_ctx_reset_error(raw_);
    try {
        auto n = static_cast<unsigned>(2 * stage_.rvars.size() + shared_.size());
        space_ = isl::space::unit(isl::ctx(raw_)).add_named_tuple("Pair", n);
        domain_ = space_.universe_set();
        add_domain();
        isl::set pairs = make_pairs();
        if (pairs.is_empty())
            return Expr();
        for (const Expr &access : accesses_)
            if (!pairs.intersect(same_element(access)).is_empty())
                return access;
        return Expr();
    } catch (const isl::exception &) {
        return written();
    }
}

isl::pw_aff Pairs::variable(size_t k) const {
    return space_.identity_multi_aff_on_domain().at(static_cast<int>(k));
}

Affine Pairs::affine(bool second) {
    return Affine(space_, nothing_,
                  [=, this](const std::string &name) -> std::optional<isl::pw_aff> {
                      size_t count = stage_.rvars.size();
                      for (size_t r = 0; r < count; r++)
                          if (stage_.rvars[r].name == name)
                              return variable(second ? count + r : r);
                      for (size_t s = 0; s < shared_.size(); s++)
                          if (shared_[s] == name)
                              return variable(2 * count + s);
                      return std::nullopt;
                  });
}

/// Nothing if it is not affine.
std::optional<isl::pw_aff> Pairs::value(const Expr &e, bool second) {
    try {
        return affine(second).value(e);
    } catch (const NotAffine &) {
        return std::nullopt;
    }
}

void Pairs::add_domain() {
    for (bool second : {false, true}) {
        for (size_t r = 0; r < stage_.rvars.size(); r++) {
            const ReductionVar &rvar = stage_.rvars[r];
            isl::pw_aff at = variable(second ? stage_.rvars.size() + r : r);
            auto min = value(rvar.min, second);
            auto max = value(ir::add(rvar.min, ir::sub(rvar.extent, ir::int32(1))), second);
            if (min)
                domain_ = domain_.intersect(at.ge_set(*min));
            if (max)
                domain_ = domain_.intersect(at.le_set(*max));
        }
        if (stage_.predicate.defined())
            add_condition(stage_.predicate, second);
    }
}

void Pairs::add_condition(const Expr &e, bool second) {
    if (e->op == ir::Op::And) {
        add_condition(e->a(), second);
        add_condition(e->b(), second);
        return;
    }
    try {
        domain_ = domain_.intersect(affine(second).where(e));
    } catch (const NotAffine &) {
    }
}

/// The pairs in which one of the two iterations writes what the other accesses: the first writes
/// what the second reads, or vice versa.
isl::set Pairs::same_element(const Expr &access) {
    isl::set result = space_.universe_set().subtract(space_.universe_set());
    for (bool writer : {false, true}) {
        isl::set meet = space_.universe_set();
        for (size_t d = 0; d < stage_.args.size(); d++) {
            auto written = value(stage_.args[d], writer),
                 accessed = value(access->args[d], !writer);
            if (written && accessed)
                meet = meet.intersect(written->eq_set(*accessed));
        }
        result = result.unite(meet);
    }
    return result;
}

isl::set Pairs::equal_loop(const std::string &loop) {
    isl::set result = space_.universe_set();
    if (LoopValue parts = values_[loop])
        for (const Expr &part : *parts) {
            auto first = value(part, false), second = value(part, true);
            if (first && second)
                result = result.intersect(first->eq_set(*second));
        }
    return result;
}

isl::set Pairs::any_different() {
    isl::set result = space_.universe_set().subtract(space_.universe_set());
    for (size_t r = 0; r < stage_.rvars.size(); r++)
        result = result.unite(variable(r).ne_set(variable(stage_.rvars.size() + r)));
    return result;
}

isl::set Pairs::differs(const std::string &loop) {
    isl::set result = space_.universe_set().subtract(space_.universe_set());
    LoopValue parts = values_[loop];
    if (!parts)
        return any_different();
    for (const Expr &part : *parts) {
        auto first = value(part, false), second = value(part, true);
        if (!first || !second)
            return any_different();
        result = result.unite(first->ne_set(*second));
    }
    return result;
}

/// The first iteration precedes the second in the order of the definition.
isl::set Pairs::original_order() {
    isl::set result = space_.universe_set().subtract(space_.universe_set());
    isl::set equal = space_.universe_set();
    for (size_t r = stage_.rvars.size(); r-- > 0;) {
        isl::pw_aff first = variable(r), second = variable(stage_.rvars.size() + r);
        result = result.unite(equal.intersect(first.lt_set(second)));
        equal = equal.intersect(first.eq_set(second));
    }
    return result;
}

/// The second iteration precedes the first in the present order of the loops.
isl::set Pairs::reversed(const LoopOrder &order) {
    LoopValues values(stage_, order.transforms);
    isl::set result = space_.universe_set().subtract(space_.universe_set());
    isl::set equal = space_.universe_set();
    for (size_t d = order.loops.size(); d-- > 0;) {
        LoopValue parts = values[order.loops[d]];
        if (!parts)
            return result.unite(equal);
        for (const Expr &part : *parts) {
            auto first = value(part, false), second = value(part, true);
            if (!first || !second)
                return result.unite(equal);
            result = result.unite(equal.intersect(second->lt_set(*first)));
            equal = equal.intersect(first->eq_set(*second));
        }
    }
    return result;
}

}  // namespace Pipe::poly
