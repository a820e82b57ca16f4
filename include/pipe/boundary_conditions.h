#pragma once
// What lies outside an image.

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
Func constant_exterior(const Func &source, const Expr &value, const Region &bounds);
/// Outside: the nearest element at the edge.
Func repeat_edge(const Func &source, const Region &bounds);
/// Outside: the image again and again, side by side.
Func repeat_image(const Func &source, const Region &bounds);
/// Outside: the image again and again, each copy mirrored, so that elements at the edges are doubled.
Func mirror_image(const Func &source, const Region &bounds);
/// As mirror_image, but the elements at the edges are not doubled.
Func mirror_interior(const Func &source, const Region &bounds);

namespace detail {
/// An image as a Func, and its bounds.
std::pair<Func, Region> as_func(const ImageParam &image);
std::pair<Func, Region> as_func(const Buffer<void> &image);
template <typename T, int D> std::pair<Func, Region> as_func(const Buffer<T, D> &image) {
    return as_func(Buffer<void>(image));
}
template <typename T>
concept Image = requires(const T &image) { as_func(image); };
}  // namespace detail

template <detail::Image T> Func constant_exterior(const T &image, const Expr &value) {
    auto [source, bounds] = detail::as_func(image);
    return constant_exterior(source, value, bounds);
}
template <detail::Image T>
Func constant_exterior(const T &image, const Expr &value, const Region &bounds) {
    return constant_exterior(detail::as_func(image).first, value, bounds);
}
template <detail::Image T> Func repeat_edge(const T &image) {
    auto [source, bounds] = detail::as_func(image);
    return repeat_edge(source, bounds);
}
template <detail::Image T> Func repeat_edge(const T &image, const Region &bounds) {
    return repeat_edge(detail::as_func(image).first, bounds);
}
template <detail::Image T> Func repeat_image(const T &image) {
    auto [source, bounds] = detail::as_func(image);
    return repeat_image(source, bounds);
}
template <detail::Image T> Func repeat_image(const T &image, const Region &bounds) {
    return repeat_image(detail::as_func(image).first, bounds);
}
template <detail::Image T> Func mirror_image(const T &image) {
    auto [source, bounds] = detail::as_func(image);
    return mirror_image(source, bounds);
}
template <detail::Image T> Func mirror_image(const T &image, const Region &bounds) {
    return mirror_image(detail::as_func(image).first, bounds);
}
template <detail::Image T> Func mirror_interior(const T &image) {
    auto [source, bounds] = detail::as_func(image);
    return mirror_interior(source, bounds);
}
template <detail::Image T> Func mirror_interior(const T &image, const Region &bounds) {
    return mirror_interior(detail::as_func(image).first, bounds);
}

}  // namespace Pipe::BoundaryConditions
