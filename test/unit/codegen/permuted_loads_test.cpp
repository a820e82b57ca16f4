// Loads at the edges of images, beside pages that must not be touched.
#include <catch2/catch_test_macros.hpp>

#include <pipe/pipe.h>

#include "support/guarded_memory.h"
#include "support/targets.h"

using namespace Pipe;

namespace {

enum class Edge { Repeat, Mirror, MirrorInterior, Wrap, Constant, ClampBelow, ClampAbove };

Func bounded(const ImageParam &in, Edge edge, const Var &x) {
    Func f("f");
    switch (edge) {
    case Edge::Repeat:
        return BoundaryConditions::repeat_edge(in);
    case Edge::Mirror:
        return BoundaryConditions::mirror_image(in);
    case Edge::MirrorInterior:
        return BoundaryConditions::mirror_interior(in);
    case Edge::Wrap:
        return BoundaryConditions::repeat_image(in);
    case Edge::Constant:
        return BoundaryConditions::constant_exterior(in, cast(in.type(), 7));
    case Edge::ClampBelow:
        f(x) = in(max(x, in.dim(0).min()));
        return f;
    default:
        f(x) = in(min(x, in.dim(0).max()));
        return f;
    }
}

template <typename T> void check(Edge edge, int width, int lanes, int first, int size) {
    for (const Target &target : testing::runnable_targets())
        for (bool at_end : {false, true}) {
            INFO("edge " << int(edge) << ", width " << width << ", lanes " << lanes << ", from "
                         << first << ", size " << size << ", " << target.to_string());
            const testing::GuardedBuffer memory(type_of<T>(), {{5, width}}, 0, !at_end);
            Buffer<T> image = memory.buffer.as<T>();
            image.fill([](int i) { return static_cast<T>(i * 7 + 3); });
            ImageParam in(type_of<T>(), 1, "in");
            in.set(image);
            Var x("x"), xo("xo"), xi("xi");
            Func out("out");
            out(x) = bounded(in, edge, x)(x);
            Buffer<T> got(size), right(size);
            got.set_min(first), right.set_min(first);
            out.realize_reference(Realization(right));
            out.split(x, xo, xi, lanes, TailStrategy::GuardWithIf).vectorize(xi);
            out.realize(got, target);
            for (int i = first; i < first + size; i++)
                REQUIRE(got(i) == right(i));
        }
}

}  // namespace

TEST_CASE("vectors at the edges of an image", "[permuted_loads]") {
    for (Edge edge : {Edge::Repeat, Edge::Mirror, Edge::MirrorInterior, Edge::Wrap, Edge::Constant})
        for (int width : {1, 20, 33, 70})
            for (int lanes : {16, 32, 64}) {
                check<uint8_t>(edge, width, lanes, -30, 110);
                check<int16_t>(edge, width, lanes, 2, width + 6);
                check<float>(edge, width, lanes, -3, 60);
            }
}

TEST_CASE("vectors at one edge of an image", "[permuted_loads]") {
    for (int width : {3, 40, 70})
        for (int lanes : {16, 32}) {
            check<uint8_t>(Edge::ClampBelow, width, lanes, -20, 25 + width);
            check<uint8_t>(Edge::ClampAbove, width, lanes, 5, width + 40);
            check<uint16_t>(Edge::ClampBelow, width, lanes, 3, 2 + width);
            check<int32_t>(Edge::ClampAbove, width, lanes, 4 + width, 50);
        }
}

TEST_CASE("vectors far beyond the edges", "[permuted_loads]") {
    for (int first : {-2000000000, -300, 300, 2000000000}) {
        check<uint8_t>(Edge::Repeat, 70, 64, first, 64);
        check<uint16_t>(Edge::Repeat, 40, 32, first, 40);
        check<float>(Edge::Repeat, 40, 16, first, 40);
    }
}
