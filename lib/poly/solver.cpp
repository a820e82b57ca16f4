#include "poly/solver.h"

// Spaces:
//   Stage[i0, ..., in-1]   the iterators of one stage: its pure variables, then its reduction variables
//   { Stage[i] -> [x] }    one coordinate of an access, as a piecewise quasi-affine function
//   { Stage[i] -> [d] }    the distance d = den * x - num * i[k]
// There are no isl parameters: sizes are numbers, known from the buffers or the estimates.

#include <algorithm>
#include <numeric>

#include <isl/aff.h>
#include <isl/cpp.h>
#include <isl/ctx.h>
#include <isl/options.h>
#include <isl/val.h>

#include "ir/intrinsics.h"

namespace Pipe::poly {

using ir::Op;

namespace {

struct NotAffine {};

/// Larger index expressions are not worth the time (and with sharing could take exponential time).
constexpr int max_nodes = 300;

/// x grows by num / den per step of an iterator, floors aside.
struct Slope {
    int64_t num = 0, den = 1;
    bool operator==(const Slope &) const = default;
};

Slope add(const Slope &a, const Slope &b) {
    Slope sum{a.num * b.den + b.num * a.den, a.den * b.den};
    const int64_t common = std::gcd(sum.num, sum.den);
    return {sum.num / common, sum.den / common};
}

Slope multiply(const Slope &a, const Slope &b) {
    Slope product{a.num * b.num, a.den * b.den};
    const int64_t common = std::gcd(product.num, product.den);
    return common == 0 ? Slope{} : Slope{product.num / common, product.den / common};
}

Slope to_slope(const isl::val &v) {
    return {v.num_si(), v.den_si()};
}

/// Slope of `f` in iterator k, every floor(g) taken for g. \param f { Stage[i] -> [x] }
Slope slope(const isl::aff &f, int k) {
    Slope total = to_slope(isl::manage(isl_aff_get_coefficient_val(f.get(), isl_dim_in, k)));
    const int divs = isl_aff_dim(f.get(), isl_dim_div);
    for (int j = 0; j < divs; j++) {
        Slope factor = to_slope(isl::manage(isl_aff_get_coefficient_val(f.get(), isl_dim_div, j)));
        if (factor.num == 0) continue;
        isl::aff div = isl::manage(isl_aff_get_div(f.get(), j));  // { Stage[i] -> [g] }
        total = add(total, multiply(factor, slope(div, k)));
    }
    return total;
}

/// Constant that an expression stands for, if it does.
std::optional<int64_t> constant(const Expr &e, const Environment &names) {
    Range r = range_of(e, names);
    return r.is_point() ? std::optional(r.min) : std::nullopt;
}

}  // namespace

struct Solver::Impl {
    isl_ctx *raw = nullptr;
    unsigned long max_operations = 0;
    int exhausted = 0;
    std::vector<Iterator> iterators;
    isl::space space;              // { Stage[i] }
    isl::set domain;               // { Stage[i] }
    isl::set free_domain;          // { Stage[i] }: only the reduction variables are bounded
    std::vector<isl::pw_aff> var;  // { Stage[i] -> [ik] }

    isl::pw_aff number(int64_t value) {  // { Stage[i] -> [value] }
        isl::val v(isl::ctx(raw), static_cast<long>(value));
        return isl::manage(isl_aff_val_on_domain_space(space.copy(), v.release()));
    }

    int steps = 0;  // nodes looked at for the question at hand
    isl::pw_aff build(const Expr &e, const Environment &names);  // { Stage[i] -> [x] }
    isl::pw_aff build_call(const Expr &e, const Environment &names);
    isl::pw_aff build_select(const Expr &e, const Environment &names);
    isl::set where(const Expr &condition, const Environment &names);  // { Stage[i] }
    Coordinate describe(const isl::pw_aff &x);
    Coordinate measure(const isl::pw_aff &x, int iterator, Slope slope);
};

namespace {

/// Least and greatest value of f. \param f { Stage[i] -> [x] } on a bounded or unbounded domain
Range extremes(const isl::pw_aff &f) {
    isl::val low = f.min_val(), high = f.max_val();
    if (low.is_nan() || high.is_nan()) return Range::empty();
    Range result;
    if (low.is_int()) result.min = std::max<int64_t>(result.min, low.num_si());
    if (high.is_int()) result.max = std::min<int64_t>(result.max, high.num_si());
    return result;
}

}  // namespace

isl::pw_aff Solver::Impl::build(const Expr &e, const Environment &names) {
    if (++steps > max_nodes || !e.type().is_int_or_uint() || e.type().is_vector()) throw NotAffine();
    if (auto value = constant(e, names)) return number(*value);
    auto arg = [&](size_t i) { return build(e->args[i], names); };
    auto factor = [&](size_t i) {
        auto value = constant(e->args[i], names);
        if (!value || std::abs(*value) >= Range::infinite) throw NotAffine();
        return static_cast<long>(*value);
    };
    switch (e->op) {
    case Op::Variable:
        for (size_t k = 0; k < iterators.size(); k++) {
            if (iterators[k].name == e->name) return var[k];
        }
        throw NotAffine();
    case Op::Cast:
        // Narrow types and unsigned ones wrap, which is not affine.
        if (!e.type().is_int() || e.type().bits < 32 || !e->args[0].type().is_int()) throw NotAffine();
        if (e->args[0].type().bits < 32) throw NotAffine();
        return arg(0);
    case Op::Add: return arg(0).add(arg(1));
    case Op::Sub: return arg(0).sub(arg(1));
    case Op::Mul:
        if (constant(e->args[0], names)) return arg(1).scale(factor(0));
        return arg(0).scale(factor(1));
    case Op::Div:
        if (factor(1) <= 0) throw NotAffine();
        return arg(0).scale_down(factor(1)).floor();
    case Op::Mod:
        if (factor(1) <= 0) throw NotAffine();
        return arg(0).mod(factor(1));
    case Op::Min: return arg(0).min(arg(1));
    case Op::Max: return arg(0).max(arg(1));
    case Op::Select: return build_select(e, names);
    case Op::Call: return build_call(e, names);
    default: throw NotAffine();
    }
}

isl::pw_aff Solver::Impl::build_call(const Expr &e, const Environment &names) {
    if (e->call_kind != ir::CallKind::Intrinsic) throw NotAffine();
    if (e->name == ir::intrinsic::likely) return build(e->args[0], names);
    if (e->name == ir::intrinsic::promise_clamped) {
        isl::pw_aff low = build(e->args[1], names), high = build(e->args[2], names);
        return build(e->args[0], names).max(low).min(high);
    }
    throw NotAffine();
}

isl::pw_aff Solver::Impl::build_select(const Expr &e, const Environment &names) {
    isl::set holds = where(e->args[0], names);
    isl::pw_aff yes = build(e->args[1], names), no = build(e->args[2], names);
    return yes.intersect_domain(holds).union_add(no.subtract_domain(holds));
}

isl::set Solver::Impl::where(const Expr &c, const Environment &names) {
    if (++steps > max_nodes) throw NotAffine();
    auto side = [&](size_t i) { return build(c->args[i], names); };
    switch (c->op) {
    case Op::EQ: return side(0).eq_set(side(1));
    case Op::NE: return side(0).ne_set(side(1));
    case Op::LT: return side(0).lt_set(side(1));
    case Op::LE: return side(0).le_set(side(1));
    case Op::GT: return side(0).gt_set(side(1));
    case Op::GE: return side(0).ge_set(side(1));
    case Op::And: return where(c->args[0], names).intersect(where(c->args[1], names));
    case Op::Or: return where(c->args[0], names).unite(where(c->args[1], names));
    case Op::Not: return space.universe_set().subtract(where(c->args[0], names));
    case Op::Call:
        if (c->call_kind == ir::CallKind::Intrinsic && c->name == ir::intrinsic::likely) {
            return where(c->args[0], names);
        }
        throw NotAffine();
    default: throw NotAffine();
    }
}

/// The coordinate x if its growth is credited to one iterator. \param x { Stage[i] -> [x] }
Coordinate Solver::Impl::measure(const isl::pw_aff &x, int iterator, Slope slope) {
    Coordinate c;
    isl::pw_aff distance = x.scale(static_cast<long>(slope.den));  // { Stage[i] -> [d] }
    if (iterator >= 0) {
        c.iterator = iterator;
        c.num = slope.num;
        c.den = slope.den;
        distance = distance.sub(var[static_cast<size_t>(iterator)].scale(static_cast<long>(slope.num)));
    }
    c.distance = extremes(distance.intersect_domain(domain));
    // Same question without the bounds of the pure iterators: an answer there cannot depend on sizes.
    // A clamp has none; it counts as constant where it only bends a small part of the domain.
    const int64_t extent = iterator < 0 ? 0 : iterators[static_cast<size_t>(iterator)].range.size();
    const bool small = c.distance.bounded() && c.distance.size() < extent / 8;
    c.constant = c.distance.is_point() || small ||
                 extremes(distance.intersect_domain(free_domain)).bounded();
    return c;
}

/// Credits x to the iterator that leaves the smallest spread of distances. \param x { Stage[i] -> [x] }
Coordinate Solver::Impl::describe(const isl::pw_aff &x) {
    std::vector<std::pair<int, Slope>> candidates = {{-1, Slope{}}};
    x.foreach_piece([&](isl::set, const isl::multi_aff &f) {
        for (size_t k = 0; k < iterators.size(); k++) {
            Slope s = slope(f.at(0), static_cast<int>(k));
            if (s.num == 0) continue;
            std::pair<int, Slope> candidate(static_cast<int>(k), s);
            const bool known = std::find(candidates.begin(), candidates.end(), candidate) !=
                               candidates.end();
            if (!iterators[k].is_reduction && !known) candidates.push_back(candidate);
        }
    });
    Coordinate best = measure(x, -1, Slope{});
    const Range range = best.distance;
    for (auto [iterator, s] : candidates) {
        if (iterator < 0) continue;
        Coordinate c = measure(x, iterator, s);
        // Spread in elements, as size() / den.
        if (c.distance.bounded() && (!best.distance.bounded() ||
                                     c.distance.size() * best.den <= best.distance.size() * c.den)) {
            best = c;
        }
    }
    best.range = range;
    return best;
}

Solver::Solver(unsigned long max_operations) : impl_(std::make_unique<Impl>()) {
    impl_->raw = isl_ctx_alloc();
    isl_options_set_on_error(impl_->raw, ISL_ON_ERROR_CONTINUE);  // no text on the user's screen
    impl_->max_operations = max_operations;
}

Solver::~Solver() {
    isl_ctx *raw = impl_->raw;
    impl_.reset();  // all isl objects go before their context
    isl_ctx_free(raw);
}

void Solver::set_stage(std::vector<Iterator> iterators) {
    Impl &s = *impl_;
    isl_ctx_set_max_operations(s.raw, 0);
    s.iterators = std::move(iterators);
    const unsigned n = static_cast<unsigned>(s.iterators.size());
    s.space = isl::space::unit(isl::ctx(s.raw)).add_named_tuple("Stage", n);
    s.domain = s.space.universe_set();
    s.free_domain = s.domain;
    s.var.clear();
    for (unsigned k = 0; k < n; k++) {
        s.var.push_back(s.space.identity_multi_aff_on_domain().at(static_cast<int>(k)));
        const Iterator &it = s.iterators[k];
        isl::set side = s.space.universe_set();
        if (it.range.min > -Range::infinite) {
            side = side.intersect(s.var[k].ge_set(s.number(it.range.min)));
        }
        if (it.range.max < Range::infinite) {
            side = side.intersect(s.var[k].le_set(s.number(it.range.max)));
        }
        s.domain = s.domain.intersect(side);
        if (it.is_reduction) s.free_domain = s.free_domain.intersect(side);
    }
}

std::optional<Coordinate> Solver::coordinate(const Expr &index, const Environment &names) {
    Impl &s = *impl_;
    isl_ctx_reset_operations(s.raw);
    isl_ctx_reset_error(s.raw);
    isl_ctx_set_max_operations(s.raw, s.max_operations);
    s.steps = 0;
    try {
        return s.describe(s.build(index, names));
    } catch (const NotAffine &) {
        return std::nullopt;
    } catch (const isl::exception_quota &) {
        s.exhausted++;
        return std::nullopt;
    } catch (const isl::exception &) {  // a C function gave null: the context knows why
        s.exhausted += isl_ctx_last_error(s.raw) == isl_error_quota;
        return std::nullopt;
    }
}

int Solver::exhausted() const {
    return impl_->exhausted;
}

}  // namespace Pipe::poly
