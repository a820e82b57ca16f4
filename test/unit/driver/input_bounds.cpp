// infer_input_bounds, and how much of an input is read: exactly what is needed, no more.
#include <catch2/catch_test_macros.hpp>

#include <pipe/pipe.h>

using namespace Pipe;

namespace {

void require_shape(const ImageParam &in, std::vector<std::pair<int, int>> ranges) {
    Buffer<void> b = in.get();
    REQUIRE(b.defined());
    for (int d = 0; d < static_cast<int>(ranges.size()); d++) {
        INFO("dimension " << d);
        CHECK(b.min(d) == ranges[static_cast<size_t>(d)].first);
        CHECK(b.min(d) + b.extent(d) - 1 == ranges[static_cast<size_t>(d)].second);
    }
}

struct OneInput {
    Var x{"x"}, y{"y"};
    ImageParam in{Int(32), 2, "in"};
    Func f{"f"};

    /// The shape that `f` of this size reads, and that it is enough.
    void reads(std::vector<int> size, std::vector<std::pair<int, int>> ranges) {
        in.reset();
        Sizes sizes{std::vector<int64_t>(size.begin(), size.end())};
        f.infer_input_bounds(sizes);
        require_shape(in, ranges);
        Buffer<int> image = in.get();
        image.fill([](int x, int y) { return 13 * x + 7 * y; });
        Buffer<int> fast = f.realize(sizes), slow = f.realize_reference(sizes);
        fast.for_each_element([&](int x, int y) { REQUIRE(fast(x, y) == slow(x, y)); });
    }
};

}  // namespace

TEST_CASE_METHOD(OneInput, "infer_input_bounds of a stencil", "[input_bounds]") {
    Func g("g");
    g(x, y) = in(x - 1, y) + in(x + 2, 2 * y);
    f(x, y) = g(x, y) + g(x + 1, y - 3);
    SECTION("inlined") {}
    SECTION("tiles") {
        Var xi("xi"), yi("yi");
        g.compute_at(f, x);
        f.tile(x, y, xi, yi, 8, 4).vectorize(xi);
    }
    for (int n : {1, 7, 33})
        reads({n, 5}, {{-1, n - 1 + 3}, {-6, 8}});
    Buffer<int> out(4, 5);
    out.set_min({10, 20});
    in.reset();
    f.infer_input_bounds(out);
    require_shape(in, {{9, 16}, {17, 48}});
    Buffer<void> kept = in.get();
    f.infer_input_bounds({100, 100});
    CHECK(in.get().same_as(kept));
}

TEST_CASE_METHOD(OneInput, "what is read depends on another input's shape", "[input_bounds]") {
    ImageParam second(Int(32), 1, "second");
    f(x, y) = in(x + 3, y) + second(clamp(x * 5, second.dim(0).min(), 40));
    f.infer_input_bounds({6, 2});
    require_shape(in, {{3, 8}, {0, 1}});
    CHECK(second.get().min(0) + second.get().extent(0) - 1 <= 40);
}

TEST_CASE_METHOD(OneInput, "conditions restrict what is read", "[input_bounds][region]") {
    SECTION("a select's arms") {
        f(x, y) = select(x > 0, in(x - 1, y), 0);
        reads({8, 3}, {{0, 6}, {0, 2}});
    }
    SECTION("a clamp written as select") {
        f(x, y) = in(select(x<3, 3, x> 5, 5, x), min(max(y, 1), 2));
        reads({20, 9}, {{3, 5}, {1, 2}});
    }
    SECTION("a triangle") {
        RDom r(0, 6, 0, 6, "r");
        r.where(r.x < r.y);
        f(x, y) = x;
        f(x, y) += in(r.x, r.y);
        reads({3, 2}, {{0, 4}, {1, 5}});
    }
    SECTION("a triangle of a Param's size, with a margin") {
        Param<int> n("n", 5);
        RDom r(0, n, 0, n, "r");
        r.where(r.x + 2 <= r.y);
        f(x, y) = 0;
        f(x, y) += in(r.x + x, r.y);
        reads({2, 2}, {{0, 3}, {2, 4}});
    }
    SECTION("two correlated indices") {
        f(x, y) = in(x + y, x - y) + in(x - y, x + y);
        reads({4, 3}, {{-2, 5}, {-2, 5}});
    }
    SECTION("a variable that cancels") {
        Expr twice = x * 2;
        f(x, y) = in(twice - x, min(x, y) - y + y);
        reads({7, 4}, {{0, 6}, {0, 3}});
    }
    SECTION("casts of what fits") {
        f(x, y) = in(cast<int>(cast<uint8_t>(clamp(x, 0, 9))), cast<int>(cast<int64_t>(y) + 1));
        reads({20, 4}, {{0, 9}, {1, 4}});
    }
    SECTION("a condition on a sum") {
        f(x, y) = select(x + y < 4, in(x + y, y), 0);
        reads({8, 8}, {{0, 3}, {0, 3}});
    }
    SECTION("a quotient and its rest") {
        f(x, y) = in((x / 4) * 4 + x % 4, y);
        reads({10, 2}, {{0, 9}, {0, 1}});
    }
}
