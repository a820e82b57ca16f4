#include "poly/affine.h"

// Spaces:
//   Stage[i]               iterators chosen by the caller
//   { Stage[i] -> [x] }    an expression, as a piecewise quasi-affine function

#include <cstdlib>

#include <isl/aff.h>
#include <isl/val.h>

#include "ir/intrinsics.h"

namespace Pipe::poly {

using ir::Op;

namespace {

/// Larger index expressions are too expensive (with sharing, they could take exponential time).
constexpr int max_nodes = 300;

}  // namespace

isl::pw_aff number(const isl::space &space, int64_t value) {
    isl::val v(space.ctx(), static_cast<long>(value));
    return isl::manage(isl_aff_val_on_domain_space(space.copy(), v.release()));
}

/// The constant value of an expression, if it has one.
std::optional<int64_t> Affine::constant(const Expr &e) const {
    Range r = range_of(e, names_);
    return r.is_point() ? std::optional(r.min) : std::nullopt;
}

isl::pw_aff Affine::value(const Expr &e) {
    if (++steps_ > max_nodes || !e.type().is_int_or_uint() || e.type().is_vector())
        throw NotAffine();
    if (auto known = constant(e))
        return number(space_, *known);
    auto arg = [&](size_t i) { return value(e->args[i]); };
    auto factor = [&](size_t i) {
        auto known = constant(e->args[i]);
        if (!known || std::abs(*known) >= Range::infinite)
            throw NotAffine();
        return static_cast<long>(*known);
    };
    switch (e->op) {
    case Op::Variable:
        if (auto known = lookup_(e->name))
            return *known;
        throw NotAffine();
    case Op::Cast:
        // Narrow types and unsigned ones wrap, which is not affine.
        if (!e.type().is_int() || e.type().bits() < 32 || !e->value().type().is_int())
            throw NotAffine();
        if (e->value().type().bits() < 32)
            throw NotAffine();
        return arg(0);
    case Op::Add:
        return arg(0).add(arg(1));
    case Op::Sub:
        return arg(0).sub(arg(1));
    case Op::Mul:
        if (constant(e->a()))
            return arg(1).scale(factor(0));
        return arg(0).scale(factor(1));
    case Op::Div:
        if (factor(1) <= 0)
            throw NotAffine();
        return arg(0).scale_down(factor(1)).floor();
    case Op::Mod:
        if (factor(1) <= 0)
            throw NotAffine();
        return arg(0).mod(factor(1));
    case Op::Min:
        return arg(0).min(arg(1));
    case Op::Max:
        return arg(0).max(arg(1));
    case Op::Select:
        return select(e);
    case Op::Call:
        return call(e);
    default:
        throw NotAffine();
    }
}

isl::pw_aff Affine::call(const Expr &e) {
    if (e->call_kind != ir::CallKind::Intrinsic)
        throw NotAffine();
    if (e->name == ir::intrinsic::likely)
        return value(e->args[0]);
    if (e->name == ir::intrinsic::promise_clamped) {
        isl::pw_aff low = value(e->args[1]), high = value(e->args[2]);
        return value(e->args[0]).max(low).min(high);
    }
    throw NotAffine();
}

isl::pw_aff Affine::select(const Expr &e) {
    isl::set holds = where(e->condition());
    isl::pw_aff yes = value(e->if_true()), no = value(e->if_false());
    return yes.intersect_domain(holds).union_add(no.subtract_domain(holds));
}

isl::set Affine::where(const Expr &c) {
    if (++steps_ > max_nodes)
        throw NotAffine();
    auto side = [&](size_t i) { return value(c->args[i]); };
    switch (c->op) {
    case Op::EQ:
        return side(0).eq_set(side(1));
    case Op::NE:
        return side(0).ne_set(side(1));
    case Op::LT:
        return side(0).lt_set(side(1));
    case Op::LE:
        return side(0).le_set(side(1));
    case Op::GT:
        return side(0).gt_set(side(1));
    case Op::GE:
        return side(0).ge_set(side(1));
    case Op::And:
        return where(c->a()).intersect(where(c->b()));
    case Op::Or:
        return where(c->a()).unite(where(c->b()));
    case Op::Not:
        return space_.universe_set().subtract(where(c->value()));
    case Op::Call:
        if (c->call_kind == ir::CallKind::Intrinsic && c->name == ir::intrinsic::likely) {
            return where(c->args[0]);
        }
        throw NotAffine();
    default:
        throw NotAffine();
    }
}

}  // namespace Pipe::poly
