#include <pipe/boundary_conditions.h>

#include <fmt/format.h>

#include "language/contents.h"
#include "support/text.h"

namespace Pipe::BoundaryConditions {
namespace {

/// A dimension with bounds.
struct Bounded {
    Expr x, min, extent;
};

/// Builds f(args) = source(coordinate(args)); holds the args of each dimension.
class Exterior {
  public:
    Exterior(const char *kind, const Func &source, const Region &bounds, SourceLocation where)
        : result(language::undefined_func(
              language::Identity::derived(*source.contents()->identity, std::string("_") + kind),
              where)),
          kind_(kind), source_(source), bounds_(bounds), where_(where) {
        if (static_cast<int>(bounds.size()) > source.dimensions())
            throw CompileError(fmt::format(
                "BoundaryConditions::{}{}: '{}' has {}, but {} ranges are given. Pass at "
                "most one Range per dimension.",
                kind, language::at(where), language::func_field(source.name()),
                support::counted(source.dimensions(), "dimension"), bounds.size()));
        for (const Var &v : source.args())
            args.push_back(v);
    }

    bool has_bounds(size_t i) const {
        return i < bounds_.size() && bounds_[i].min.defined() && bounds_[i].extent.defined();
    }
    Bounded dimension(size_t i) const {
        auto range = language::coordinates(
            fmt::format("the range of dimension {} of BoundaryConditions::{}", i, kind_),
            {bounds_[i].min, bounds_[i].extent}, where_);
        return {args[i], range[0], range[1]};
    }

    /// The source with `map` applied to every coordinate that has bounds.
    template <typename F> FuncRef mapped(F &&map) const {
        std::vector<Expr> coordinates = args;
        for (size_t i = 0; i < args.size(); i++)
            if (has_bounds(i))
                coordinates[i] = map(dimension(i));
        return source_(coordinates, where_);
    }

    Func result;
    std::vector<Expr> args;

  private:
    std::string kind_;
    Func source_;
    Region bounds_;
    SourceLocation where_;
};

Expr clamped(const Expr &x, const Bounded &b) {
    return clamp(x, b.min, b.min + b.extent - 1);
}

/// `value`, of which `same` is another form: for the bounds, which of a remainder in a promise are exact inside of one period
/// (region/bounds_of). With them, a tile needs its own rows of a source that is computed, not all of them.
Expr bounded_as(const Expr &value, const Expr &same) {
    return unsafe_promise_clamped(value, same, same);
}

/// x in the period [-before, period - before).
Expr in_period(const Expr &x, const Expr &period, const Expr &before) {
    return (x + before) % max(period, 1) - before;
}

/// One value per value of the source, cast to its type.
std::vector<Expr> exterior_values(const Func &source, const ExteriorValue &value,
                                  SourceLocation where) {
    const std::vector<Type> &types = source.types();
    if (value.is_tuple() && value.values().size() != types.size())
        throw CompileError(fmt::format(
            "BoundaryConditions::constant_exterior{}: '{}' has {}, but the Tuple of exterior "
            "values has {}. Pass one value for each, or a single Expr for all.",
            language::at(where), language::func_field(source.name()),
            support::counted(types.size(), "value"), value.values().size()));
    std::vector<Expr> values;
    for (size_t i = 0; i < types.size(); i++)
        values.push_back(cast(types[i], value.values()[value.is_tuple() ? i : 0]));
    return values;
}

}  // namespace

Func constant_exterior(const Func &source, const ExteriorValue &value, const Region &bounds,
                       SourceLocation where) {
    Exterior e("constant_exterior", source, bounds, where);
    Expr outside = Expr(false);
    for (size_t i = 0; i < e.args.size(); i++) {
        if (!e.has_bounds(i))
            continue;
        Bounded b = e.dimension(i);
        outside = outside || b.x < b.min || b.x >= b.min + b.extent;
    }
    FuncRef inside = e.mapped([](const Bounded &b) { return clamped(likely(b.x), b); });
    std::vector<Expr> values = exterior_values(source, value, where);
    for (size_t i = 0; i < values.size(); i++)
        values[i] = select(outside, values[i], likely(inside[static_cast<int>(i)]));
    e.result(e.args, where) = Tuple(values);
    return e.result;
}

Func repeat_edge(const Func &source, const Region &bounds, SourceLocation where) {
    Exterior e("repeat_edge", source, bounds, where);
    e.result(e.args, where) = e.mapped([](const Bounded &b) { return clamped(likely(b.x), b); });
    return e.result;
}

Func repeat_image(const Func &source, const Region &bounds, SourceLocation where) {
    Exterior e("repeat_image", source, bounds, where);
    e.result(e.args, where) = e.mapped([](const Bounded &b) {
        Expr x = b.x - b.min, outside = x < 0 || x >= b.extent;
        Expr repeated = bounded_as(x % b.extent, in_period(x, b.extent, 0));
        return clamped(select(outside, repeated + b.min, likely(b.x)), b);
    });
    return e.result;
}

Func mirror_image(const Func &source, const Region &bounds, SourceLocation where) {
    Exterior e("mirror_image", source, bounds, where);
    e.result(e.args, where) = e.mapped([](const Bounded &b) {
        // One period is forward and mirrored; edges occur twice.
        Expr period = 2 * b.extent, x = b.x - b.min, t = x % period;
        Expr u = in_period(x, period, b.extent / 2), right = max(u, -1 - u);
        Expr mirrored = bounded_as(min(t, period - 1 - t), min(right, period - 1 - right));
        Expr outside = x < 0 || x >= b.extent;
        return clamped(select(outside, mirrored + b.min, likely(b.x)), b);
    });
    return e.result;
}

Func mirror_interior(const Func &source, const Region &bounds, SourceLocation where) {
    Exterior e("mirror_interior", source, bounds, where);
    e.result(e.args, where) = e.mapped([](const Bounded &b) {
        // One period is forward and mirrored; edges occur once.
        Expr last = b.extent - 1, period = max(2 * last, 1), x = b.x - b.min, t = x % period;
        Expr u = in_period(x, period, last / 2), right = max(u, -u);
        Expr mirrored = bounded_as(min(t, 2 * last - t), min(right, 2 * last - right));
        Expr outside = x < 0 || x >= b.extent;
        return clamped(select(outside, mirrored + b.min, likely(b.x)), b);
    });
    return e.result;
}

namespace detail {

std::pair<Func, Region> as_func(const ImageParam &image, SourceLocation where) {
    std::vector<Expr> args;
    Region bounds;
    for (int d = 0; d < image.dimensions(); d++) {
        args.push_back(Var::implicit(d));
        bounds.emplace_back(image.dim(d).min(), image.dim(d).extent());
    }
    Func f(language::undefined_func(language::Identity::derived(*image.contents()->identity, "_func"),
                                    where));
    f(args, where) = image(args, where);
    return {f, bounds};
}

std::pair<Func, Region> as_func(const Buffer<void> &image, SourceLocation where) {
    std::vector<Expr> args;
    Region bounds;
    for (int d = 0; d < image.dimensions(); d++) {
        args.push_back(Var::implicit(d));
        bounds.emplace_back(Expr(image.min(d)), Expr(image.extent(d)));
    }
    Func f(language::undefined_func(
        language::Identity::unnamed(image.name().empty() ? "buffer_func" : image.name() + "_func"),
        where));
    f(args, where) = image(args);
    return {f, bounds};
}

}  // namespace detail

}  // namespace Pipe::BoundaryConditions
