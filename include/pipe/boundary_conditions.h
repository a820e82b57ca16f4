#pragma once
// Boundary conditions: values outside the bounds of an image or Func.

#include <concepts>
#include <source_location>
#include <type_traits>
#include <utility>
#include <vector>

#include <pipe/buffer.h>
#include <pipe/func.h>
#include <pipe/param.h>
#include <pipe/rdom.h>
#include <pipe/tuple.h>

namespace Pipe::BoundaryConditions {

// Each function returns a Func that equals `source` inside `bounds` and never reads the source
// outside them. `bounds` has one Range (min, extent) per dimension, innermost first; a missing Range,
// or one with an undefined Expr, leaves the dimension unbounded. By default, the bounds of an image
// are its own. CompileError if there are more Ranges than dimensions.

/// The value outside an image: one for all elements of its Tuple, or a Tuple with one value for
/// each.
class ExteriorValue {
  public:
    template <std::convertible_to<Expr> T> ExteriorValue(const T &value) : values_{Expr(value)} {}
    ExteriorValue(const Tuple &values) : values_(values.as_vector()), is_tuple_(true) {}
    template <typename... Rest>
    ExteriorValue(const Expr &first, const Expr &second, const Rest &...rest)
        : ExteriorValue(Tuple(first, second, rest...)) {}

    bool is_tuple() const { return is_tuple_; }
    /// One value if it is not a Tuple.
    const std::vector<Expr> &values() const { return values_; }

  private:
    std::vector<Expr> values_;
    bool is_tuple_ = false;
};

/// Outside: `value`, cast to the types of the source. CompileError if it is a Tuple whose size
/// differs from the source's.
Func constant_exterior(const Func &source, const ExteriorValue &value, const Region &bounds,
                       SourceLocation where = std::source_location::current());
/// Outside: the nearest element at the edge.
Func repeat_edge(const Func &source, const Region &bounds,
                 SourceLocation where = std::source_location::current());
/// Outside: the image, repeated periodically.
Func repeat_image(const Func &source, const Region &bounds,
                  SourceLocation where = std::source_location::current());
/// Outside: the image, repeated with every other copy mirrored; elements at the edges occur twice
/// in a row.
Func mirror_image(const Func &source, const Region &bounds,
                  SourceLocation where = std::source_location::current());
/// As mirror_image, but elements at the edges occur once.
Func mirror_interior(const Func &source, const Region &bounds,
                     SourceLocation where = std::source_location::current());

// Without bounds: the compiler's error shows the comment.
Func constant_exterior(Func, ExteriorValue) = delete;  // a Func needs bounds: {{min, extent}, ..}
Func repeat_edge(Func) = delete;                       // a Func needs bounds: {{min, extent}, ..}
Func repeat_image(Func) = delete;                      // a Func needs bounds: {{min, extent}, ..}
Func mirror_image(Func) = delete;                      // a Func needs bounds: {{min, extent}, ..}
Func mirror_interior(Func) = delete;                   // a Func needs bounds: {{min, extent}, ..}

namespace detail {
/// An image as a Func, and its bounds.
std::pair<Func, Region> as_func(const ImageParam &image, SourceLocation where);
std::pair<Func, Region> as_func(const Buffer<void> &image, SourceLocation where);
template <typename T, int D>
std::pair<Func, Region> as_func(const Buffer<T, D> &image, SourceLocation where) {
    return as_func(Buffer<void>(image), where);
}
template <typename T>
concept Image = requires(const T &image) {
    as_func(image, SourceLocation());
};

inline const Func &source_of(const Func &source, SourceLocation) {
    return source;
}
template <Image T> Func source_of(const T &image, SourceLocation where) {
    return as_func(image, where).first;
}
template <typename T>
concept Source = std::is_same_v<T, Func> || Image<T>;

/// min0, extent0, min1, extent1, .. as Ranges.
inline void add_ranges(Region &) {}
template <typename... Rest>
void add_ranges(Region &ranges, const Expr &min, const Expr &extent, const Rest &...rest) {
    ranges.emplace_back(min, extent);
    add_ranges(ranges, rest...);
}
template <typename... Rest> Region ranges(const Rest &...rest) {
    Region all;
    add_ranges(all, rest...);
    return all;
}
template <typename... T>
concept Ranges = sizeof...(T) % 2 == 0 && (std::convertible_to<T, Expr> && ...);
}  // namespace detail

// Overloads for images, and with bounds as a list min0, extent0, min1, extent1, ..: two undefined
// Exprs leave their dimension unbounded.

template <detail::Image T>
Func constant_exterior(const T &image, const ExteriorValue &value,
                       SourceLocation where = std::source_location::current()) {
    auto [source, bounds] = detail::as_func(image, where);
    return constant_exterior(source, value, bounds, where);
}
template <detail::Image T>
Func constant_exterior(const T &image, const ExteriorValue &value, const Region &bounds,
                       SourceLocation where = std::source_location::current()) {
    return constant_exterior(detail::as_func(image, where).first, value, bounds, where);
}
template <detail::Source T, typename... More>
requires detail::Ranges<More...> Func constant_exterior(const T &source, const ExteriorValue &value,
                                                        const Pipe::detail::ExprAt &min,
                                                        const Expr &extent, const More &...more) {
    return constant_exterior(detail::source_of(source, min.where), value,
                             detail::ranges(min.expr, extent, more...), min.where);
}

template <detail::Image T>
Func repeat_edge(const T &image, SourceLocation where = std::source_location::current()) {
    auto [source, bounds] = detail::as_func(image, where);
    return repeat_edge(source, bounds, where);
}
template <detail::Image T>
Func repeat_edge(const T &image, const Region &bounds,
                 SourceLocation where = std::source_location::current()) {
    return repeat_edge(detail::as_func(image, where).first, bounds, where);
}
template <detail::Source T, typename... More>
requires detail::Ranges<More...> Func repeat_edge(const T &source, const Pipe::detail::ExprAt &min,
                                                  const Expr &extent, const More &...more) {
    return repeat_edge(detail::source_of(source, min.where),
                       detail::ranges(min.expr, extent, more...), min.where);
}

template <detail::Image T>
Func repeat_image(const T &image, SourceLocation where = std::source_location::current()) {
    auto [source, bounds] = detail::as_func(image, where);
    return repeat_image(source, bounds, where);
}
template <detail::Image T>
Func repeat_image(const T &image, const Region &bounds,
                  SourceLocation where = std::source_location::current()) {
    return repeat_image(detail::as_func(image, where).first, bounds, where);
}
template <detail::Source T, typename... More>
requires detail::Ranges<More...> Func repeat_image(const T &source, const Pipe::detail::ExprAt &min,
                                                   const Expr &extent, const More &...more) {
    return repeat_image(detail::source_of(source, min.where),
                        detail::ranges(min.expr, extent, more...), min.where);
}

template <detail::Image T>
Func mirror_image(const T &image, SourceLocation where = std::source_location::current()) {
    auto [source, bounds] = detail::as_func(image, where);
    return mirror_image(source, bounds, where);
}
template <detail::Image T>
Func mirror_image(const T &image, const Region &bounds,
                  SourceLocation where = std::source_location::current()) {
    return mirror_image(detail::as_func(image, where).first, bounds, where);
}
template <detail::Source T, typename... More>
requires detail::Ranges<More...> Func mirror_image(const T &source, const Pipe::detail::ExprAt &min,
                                                   const Expr &extent, const More &...more) {
    return mirror_image(detail::source_of(source, min.where),
                        detail::ranges(min.expr, extent, more...), min.where);
}

template <detail::Image T>
Func mirror_interior(const T &image, SourceLocation where = std::source_location::current()) {
    auto [source, bounds] = detail::as_func(image, where);
    return mirror_interior(source, bounds, where);
}
template <detail::Image T>
Func mirror_interior(const T &image, const Region &bounds,
                     SourceLocation where = std::source_location::current()) {
    return mirror_interior(detail::as_func(image, where).first, bounds, where);
}
template <detail::Source T, typename... More>
requires detail::Ranges<More...> Func mirror_interior(const T &source,
                                                      const Pipe::detail::ExprAt &min,
                                                      const Expr &extent, const More &...more) {
    return mirror_interior(detail::source_of(source, min.where),
                           detail::ranges(min.expr, extent, more...), min.where);
}

}  // namespace Pipe::BoundaryConditions
