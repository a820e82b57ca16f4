#include "poly/solver.h"

// Spaces:
//   Stage[i0, ..., in-1]   the iterators of one stage: its pure variables, then its reduction variables
//   { Stage[i] -> [x] }    one coordinate of an access, as a piecewise quasi-affine function
//   { Stage[i] -> [d] }    the distance d = den * x - num * i[k]
// There are no isl parameters: sizes are numbers, from the buffers or the estimates.

#include <algorithm>
#include <numeric>

#include <isl/aff.h>
#include <isl/cpp.h>
#include <isl/ctx.h>
#include <isl/options.h>
#include <isl/val.h>

#include "poly/affine.h"

namespace Pipe::poly {

namespace {

/// x grows by num / den per step of an iterator, ignoring floors.
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

/// Slope of `f` in iterator k, replacing every floor(g) by g. \param f { Stage[i] -> [x] }
Slope slope(const isl::aff &f, int k) {
    Slope total = to_slope(isl::manage(isl_aff_get_coefficient_val(f.get(), isl_dim_in, k)));
    const int divs = isl_aff_dim(f.get(), isl_dim_div);
    for (int j = 0; j < divs; j++) {
        Slope factor = to_slope(isl::manage(isl_aff_get_coefficient_val(f.get(), isl_dim_div, j)));
        if (factor.num == 0)
            continue;
        isl::aff div = isl::manage(isl_aff_get_div(f.get(), j));  // { Stage[i] -> [g] }
        total = add(total, multiply(factor, slope(div, k)));
    }
    return total;
}

/// The steps of iterator k after which f has changed by as much again, and every floor in it, too.
/// \param f { Stage[i] -> [x] }
int64_t steps_that_repeat(const isl::aff &f, int k) {
    int64_t steps = 1;
    const int divs = isl_aff_dim(f.get(), isl_dim_div);
    for (int j = 0; j < divs; j++) {
        const isl::val factor = isl::manage(isl_aff_get_coefficient_val(f.get(), isl_dim_div, j));
        if (factor.is_zero())
            continue;
        const isl::aff div = isl::manage(isl_aff_get_div(f.get(), j));  // { Stage[i] -> [g] }
        steps = std::lcm(steps, std::lcm(slope(div, k).den, steps_that_repeat(div, k)));
    }
    return steps;
}

}  // namespace

struct Solver::Impl {
    isl_ctx *raw = nullptr;
    unsigned long max_operations = 0;
    int exhausted = 0;
    std::vector<Iterator> iterators;
    isl::space space;      // { Stage[i] }
    isl::set domain;       // { Stage[i] }
    isl::set free_domain;  // { Stage[i] }: only the reduction variables are bounded
    isl::set middle;       // { Stage[i] }: of the domain, a few points of each pure variable
    std::vector<isl::pw_aff> var;  // { Stage[i] -> [ik] }

    isl::pw_aff build(const Expr &e, const Environment &names) {  // { Stage[i] -> [x] }
        return Affine(space, names,
                      [this](const std::string &name) -> std::optional<isl::pw_aff> {
                          for (size_t k = 0; k < iterators.size(); k++)
                              if (iterators[k].name == name)
                                  return var[k];
                          return std::nullopt;
                      })
            .value(e);
    }
    isl::set in_middle(const isl::set &all, unsigned k) const;
    Coordinate describe(const isl::pw_aff &x);
    Coordinate measure(const isl::pw_aff &x, int iterator, Slope slope);
};

namespace {

/// Minimum and maximum of f. \param f { Stage[i] -> [x] } on a bounded or unbounded domain
Range extremes(const isl::pw_aff &f) {
    isl::val low = f.min_val(), high = f.max_val();
    if (low.is_nan() || high.is_nan())
        return Range::empty();
    Range result;
    if (low.is_int())
        result.min = std::max<int64_t>(result.min, low.num_si());
    if (high.is_int())
        result.max = std::min<int64_t>(result.max, high.num_si());
    return result;
}

}  // namespace

/// A few points of iterator k, far enough from the ends of its range that clamps to it change nothing; all of a
/// short range.
isl::set Solver::Impl::in_middle(const isl::set &all, unsigned k) const {
    constexpr int64_t points = 16, long_range = 4 * points;
    const Range &range = iterators[k].range;
    if (!range.bounded() || range.size() < long_range)
        return all;
    const int64_t first = range.min + (range.size() - points) / 2;
    return var[k]
        .ge_set(number(space, first))
        .intersect(var[k].le_set(number(space, first + points - 1)));
}

/// The coordinate x as a function of the given iterator. \param x { Stage[i] -> [x] }
Coordinate Solver::Impl::measure(const isl::pw_aff &x, int iterator, Slope slope) {
    Coordinate c;
    isl::pw_aff distance = x.scale(static_cast<long>(slope.den));  // { Stage[i] -> [d] }
    if (iterator >= 0) {
        c.iterator = iterator;
        c.num = slope.num;
        c.den = slope.den;
        distance =
            distance.sub(var[static_cast<size_t>(iterator)].scale(static_cast<long>(slope.num)));
    }
    c.distance = extremes(distance.intersect_domain(domain));
    c.steady = c.distance;
    if (c.distance.bounded() && !c.distance.is_point() && isl_pw_aff_n_piece(distance.get()) > 1)
        if (const Range inside = extremes(distance.intersect_domain(middle)); !inside.is_empty())
            c.steady = inside;
    // The same without the bounds of the pure iterators: a result then cannot depend on sizes. For
    // a clamp there is none; it counts as constant if it is active only in a small part of the
    // domain.
    const int64_t extent = iterator < 0 ? 0 : iterators[static_cast<size_t>(iterator)].range.size();
    const bool small = c.distance.bounded() && c.distance.size() < extent / 8;
    c.constant = c.distance.is_point() || small ||
                 extremes(distance.intersect_domain(free_domain)).bounded();
    return c;
}

/// Chooses the iterator that leaves the smallest spread of distances. \param x { Stage[i] -> [x] }
Coordinate Solver::Impl::describe(const isl::pw_aff &x) {
    std::vector<std::pair<int, Slope>> candidates = {{-1, Slope{}}};
    std::vector<bool> grows_by_one(iterators.size(), true);
    std::vector<int64_t> periods;  // of the pure iterators along which x repeats
    int pieces = 0;
    x.foreach_piece([&](isl::set, const isl::multi_aff &f) {
        pieces++;
        for (size_t k = 0; k < iterators.size(); k++) {
            Slope s = slope(f.at(0), static_cast<int>(k));
            grows_by_one[k] = grows_by_one[k] && s == Slope{1, 1};
            if (s.num == 0) {
                const int64_t steps = steps_that_repeat(f.at(0), static_cast<int>(k));
                if (steps > 1 && !iterators[k].is_reduction)
                    periods.push_back(steps);
                continue;
            }
            std::pair<int, Slope> candidate(static_cast<int>(k), s);
            const bool known =
                std::find(candidates.begin(), candidates.end(), candidate) != candidates.end();
            if (!iterators[k].is_reduction && !known)
                candidates.push_back(candidate);
        }
    });
    Coordinate best = measure(x, -1, Slope{});
    const Range range = best.distance;
    for (auto [iterator, s] : candidates) {
        if (iterator < 0)
            continue;
        Coordinate c = measure(x, iterator, s);
        // Spread in elements, as size() / den.
        if (c.distance.bounded() &&
            (!best.distance.bounded() ||
             c.distance.size() * best.den <= best.distance.size() * c.den)) {
            best = c;
        }
    }
    best.range = range;
    if (pieces == 1 && periods.size() == 1 && best.iterator < 0)
        best.period = periods[0];
    const auto first = std::find_if(iterators.begin(), iterators.end(),
                                    [](const Iterator &it) { return it.is_reduction; });
    const auto pure = static_cast<size_t>(first - iterators.begin());
    for (size_t k = pure; k < iterators.size() && best.follows < 0; k++)
        if (grows_by_one[k])
            best.follows = static_cast<int>(k - pure);
    return best;
}

Solver::Solver(unsigned long max_operations) : impl_(std::make_unique<Impl>()) {
    impl_->raw = isl_ctx_alloc();
    isl_options_set_on_error(impl_->raw, ISL_ON_ERROR_CONTINUE);  // no output to the console
    impl_->max_operations = max_operations;
}

Solver::~Solver() {
    isl_ctx *raw = impl_->raw;
    impl_.reset();  // all isl objects must be destroyed before their context
    isl_ctx_free(raw);
}

void Solver::set_stage(std::vector<Iterator> iterators) {
    Impl &s = *impl_;
    isl_ctx_set_max_operations(s.raw, 0);
    s.iterators = std::move(iterators);
    const unsigned n = static_cast<unsigned>(s.iterators.size());
    s.space = isl::space::unit(isl::ctx(s.raw)).add_named_tuple("Stage", n);
    s.domain = s.space.universe_set();
    s.free_domain = s.middle = s.domain;
    s.var.clear();
    for (unsigned k = 0; k < n; k++) {
        s.var.push_back(s.space.identity_multi_aff_on_domain().at(static_cast<int>(k)));
        const Iterator &it = s.iterators[k];
        isl::set side = s.space.universe_set();
        if (it.range.min > -Range::infinite) {
            side = side.intersect(s.var[k].ge_set(number(s.space, it.range.min)));
        }
        if (it.range.max < Range::infinite) {
            side = side.intersect(s.var[k].le_set(number(s.space, it.range.max)));
        }
        s.domain = s.domain.intersect(side);
        s.middle = s.middle.intersect(it.is_reduction ? side : s.in_middle(side, k));
        if (it.is_reduction)
            s.free_domain = s.free_domain.intersect(side);
    }
}

std::optional<Coordinate> Solver::coordinate(const Expr &index, const Environment &names) {
    Impl &s = *impl_;
    isl_ctx_reset_operations(s.raw);
    isl_ctx_reset_error(s.raw);
    isl_ctx_set_max_operations(s.raw, s.max_operations);
    try {
        return s.describe(s.build(index, names));
    } catch (const NotAffine &) {
        return std::nullopt;
    } catch (const isl::exception_quota &) {
        s.exhausted++;
        return std::nullopt;
    } catch (const isl::exception &) {  // a C function returned null: the context has the error
        s.exhausted += isl_ctx_last_error(s.raw) == isl_error_quota;
        return std::nullopt;
    }
}

int Solver::exhausted() const {
    return impl_->exhausted;
}

}  // namespace Pipe::poly
