// BoundaryConditions with their bounds as Exprs, and of Tuples.
#include <pipe/halide.h>

#include <catch2/catch_test_macros.hpp>

#include "support/require_message.h"

using namespace Halide;
using namespace Halide::BoundaryConditions;

namespace {

Var x("x"), y("y");

int value(int i, int j) {
    return 7 * i + 100 * j;
}

int nearest(int i, int min, int extent) {
    return std::min(std::max(i, min), min + extent - 1);
}
int repeated(int i, int min, int extent) {
    return ((i - min) % extent + extent) % extent + min;
}
/// There and back, with the elements at the edges twice.
int mirrored(int i, int min, int extent) {
    int t = repeated(i - min, 0, 2 * extent);
    return min + std::min(t, 2 * extent - 1 - t);
}
/// There and back, with the elements at the edges once.
int mirrored_inside(int i, int min, int extent) {
    int t = repeated(i - min, 0, std::max(1, 2 * (extent - 1)));
    return min + std::min(t, 2 * (extent - 1) - t);
}

/// How many of the elements around a box are not those of the source where `map` says.
template <typename Map>
int count_wrong(Func f, int x_min, int width, int y_min, int height, const Map &map) {
    Buffer<int> out(width + 10, height + 8);
    out.set_min(x_min - 5, y_min - 4);
    f.realize(out);
    int wrong = 0;
    out.for_each_element([&](int i, int j) {
        wrong += out(i, j) != value(map(i, x_min, width), map(j, y_min, height));
    });
    return wrong;
}

}  // namespace

TEST_CASE("bounds as Exprs, of Funcs, Buffers and ImageParams", "[compat]") {
    for (auto [x_min, width, y_min, height] :
         {std::array{0, 1, 0, 1}, {-3, 1, 5, 4}, {0, 8, 0, 7}, {11, 5, -2, 3}}) {
        Buffer<int> image(width, height);
        image.set_min(x_min, y_min);
        image.fill(value);
        Func source("source");
        source(x, y) = 7 * x + 100 * y;
        ImageParam in(Int(32), 2);
        in.set(image);
        Param<int> left("left", x_min), columns("columns", width);
        auto wrong = [&, a = x_min, b = width, c = y_min, d = height](const Func &f, auto map) {
            return count_wrong(f, a, b, c, d, map);
        };
        CHECK(wrong(repeat_edge(source, left, columns, y_min, height), nearest) == 0);
        CHECK(wrong(repeat_edge(image, x_min, width, y_min, height), nearest) == 0);
        CHECK(wrong(repeat_edge(in, in.left(), in.width(), in.top(), in.height()), nearest) == 0);
        CHECK(wrong(repeat_image(source, left, columns, y_min, height), repeated) == 0);
        CHECK(wrong(repeat_image(in, x_min, columns, y_min, height), repeated) == 0);
        CHECK(wrong(mirror_image(source, left, columns, y_min, height), mirrored) == 0);
        CHECK(wrong(mirror_image(image, left, columns, y_min, height), mirrored) == 0);
        CHECK(wrong(mirror_interior(source, left, columns, y_min, height), mirrored_inside) == 0);
        CHECK(wrong(mirror_interior(in, left, columns, y_min, height), mirrored_inside) == 0);
    }
}

TEST_CASE("undefined bounds leave a dimension alone", "[compat]") {
    Func source("source");
    source(x, y) = 7 * x + 100 * y;
    auto alone = [](int i, int, int) { return i; };
    auto rows = [&](int i, int min, int) { return min == 20 ? nearest(i, 20, 3) : alone(i, 0, 0); };
    Func f = repeat_edge(source, Expr(), Expr(), 20, 3);
    CHECK(count_wrong(f, -2, 5, 20, 3, rows) == 0);
    Func g = repeat_edge(source, 20, 3);  // of the first dimension only
    CHECK(count_wrong(g, 20, 3, -2, 5, rows) == 0);
}

TEST_CASE("one constant outside, and one for each value", "[compat]") {
    for (int width : {1, 2, 7}) {
        Buffer<uint8_t> image(width);
        image.set_min(3);
        image.fill([](int i) { return 10 * i; });
        Func one = constant_exterior(image, 5, 3, width);
        Func both("both");
        both(x) = Tuple(image(x), cast<float>(x) / 2);
        Func each = constant_exterior(both, Tuple(1, -1.5f), 3, width);
        Func same = constant_exterior(both, {2, 3.0f}, {{3, width}});
        Func all = constant_exterior(both, 4, 3, width);
        auto over = [&](Func f) {
            std::vector<Buffer<>> out;
            for (Type type : f.types()) {
                out.emplace_back(type, width + 6);
                out.back().set_min(0);
            }
            f.realize(Realization(out));
            return out;
        };
        Buffer<uint8_t> a = over(one)[0], b = over(each)[0], d = over(same)[0], g = over(all)[0];
        Buffer<float> c = over(each)[1], e = over(same)[1], h = over(all)[1];
        for (int i = 0; i < width + 6; i++) {
            bool inside = i >= 3 && i < 3 + width;
            CHECK(a(i) == (inside ? 10 * i : 5));
            CHECK(b(i) == (inside ? 10 * i : 1));
            CHECK(c(i) == (inside ? i / 2.0f : -1.5f));
            CHECK(d(i) == (inside ? 10 * i : 2));
            CHECK(e(i) == (inside ? i / 2.0f : 3.0f));
            CHECK(g(i) == (inside ? 10 * i : 4));
            CHECK(h(i) == (inside ? i / 2.0f : 4.0f));
        }
    }
}

TEST_CASE("a Tuple outside of another size than the values", "[compat]") {
    Func both("both");
    both(x) = Tuple(x, x + 1);
    require_message<CompileError>(
        [&] { constant_exterior(both, Tuple(1, 2, 3), 0, 10); },
        {"constant_exterior", "boundaries.cpp:", "'both' has 2 values", "has 3"});
    require_message<CompileError>(
        [&] { repeat_edge(both, 0, 10, 0, 10); },
        {"repeat_edge", "boundaries.cpp:", "'both' has 1 dimension", "2 ranges"});
}
