#pragma once
// What lies outside an image.

#include <source_location>
#include <utility>
#include <vector>

#include <pipe/buffer.h>
#include <pipe/func.h>
#include <pipe/param.h>
#include <pipe/rdom.h>

namespace Pipe::BoundaryConditions {

/// All functions here give a Func that equals `source` inside `bounds` (one Range per leading
/// dimension of the source; a Range with an undefined Expr, or a missing one, leaves the dimension
/// alone) and never asks the source for anything outside. For an image the bounds are its own.

/// Outside: `value`, in the type of the source.
Func constant_exterior(const Func &source, const Expr &value, const Region &bounds,
                       SourceLocation where = std::source_location::current());
/// Outside: the nearest element at the edge.
Func repeat_edge(const Func &source, const Region &bounds,
                 SourceLocation where = std::source_location::current());
/// Outside: the image again and again, side by side.
Func repeat_image(const Func &source, const Region &bounds,
                  SourceLocation where = std::source_location::current());
/// Outside: the image again and again, each copy mirrored, so that elements at the edges are
/// doubled.
Func mirror_image(const Func &source, const Region &bounds,
                  SourceLocation where = std::source_location::current());
/// As mirror_image, but the elements at the edges are not doubled.
Func mirror_interior(const Func &source, const Region &bounds,
                     SourceLocation where = std::source_location::current());

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
}  // namespace detail

template <detail::Image T>
Func constant_exterior(const T &image, const Expr &value,
                       SourceLocation where = std::source_location::current()) {
    auto [source, bounds] = detail::as_func(image, where);
    return constant_exterior(source, value, bounds, where);
}
template <detail::Image T>
Func constant_exterior(const T &image, const Expr &value, const Region &bounds,
                       SourceLocation where = std::source_location::current()) {
    return constant_exterior(detail::as_func(image, where).first, value, bounds, where);
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

}  // namespace Pipe::BoundaryConditions
