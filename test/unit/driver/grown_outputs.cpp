// realize({sizes}) where the schedule or an update writes more than these sizes: the outputs are
// parts of larger ones.
#include <pipe/pipe.h>

#include "test/support/require_message.h"

using namespace Pipe;

namespace {

Var x("x"), y("y"), xi("xi"), yi("yi");

void check_shape(const BufferBase &b, const std::vector<int> &sizes) {
    REQUIRE(b.dimensions() == static_cast<int>(sizes.size()));
    for (int d = 0; d < b.dimensions(); d++) {
        CHECK(b.min(d) == 0);
        CHECK(b.extent(d) == sizes[static_cast<size_t>(d)]);
    }
}

}  // namespace

TEST_CASE("an update that writes beyond the sizes", "[driver][grown]") {
    Func image("image"), histogram("histogram");
    image(x, y) = x + y;
    RDom r(0, 50, 0, 50);
    histogram(x) = 7;
    histogram(image(r.x, r.y) - 5) += 1;
    for (int size : {1, 9, 40, 94, 120}) {
        INFO(size);
        Buffer<int> out = histogram.realize({size});
        check_shape(out, {size});
        for (int i = 0; i < size; i++) {
            int sum = i + 5;
            CHECK(out(i) == 7 + std::max(0, sum < 50 ? sum + 1 : 99 - sum));
        }
    }
}

TEST_CASE("tails that go beyond the sizes", "[driver][grown]") {
    Func f("f");
    f(x, y) = x * 100 + y;
    f(x, y) += 3 * y;
    f.tile(x, y, xi, yi, 16, 8, TailStrategy::RoundUp).vectorize(xi, 8);
    f.update().vectorize(x, 8, TailStrategy::GuardWithIf);
    for (auto [w, h] : {std::pair{30, 20}, {1, 1}, {32, 24}, {17, 8}}) {
        INFO(w << " x " << h);
        Buffer<int> out = f.realize({w, h});
        check_shape(out, {w, h});
        CHECK(out.stride(0) == 1);
        CHECK(out.stride(1) == (w + 15) / 16 * 16);
        out.for_each_element([&](int i, int j) { REQUIRE(out(i, j) == i * 100 + 4 * j); });
    }
    Buffer<int> small(30, 20);
    require_message<RuntimeError>([&] { f.realize(small); },
                                  {"Output f", "0 to 31", "0 to 29", "Pass a larger one"});
}

TEST_CASE("a loop that shifts inwards needs a whole factor", "[driver][grown]") {
    Func f("f");
    f(x) = x * x;
    f.vectorize(x, 8, TailStrategy::ShiftInwards);
    for (int size : {1, 7, 8, 21}) {
        Buffer<int> out = f.realize({size});
        check_shape(out, {size});
        for (int i = 0; i < size; i++)
            CHECK(out(i) == i * i);
    }
    Buffer<int> small(7);
    require_message<RuntimeError>([&] { f.realize(small); }, {"extent of 7", "factor 8"});
}

TEST_CASE("a tail of a specialization", "[driver][grown]") {
    Func f("f");
    Param<bool> wide("wide");
    f(x) = x + 1;
    f.specialize(wide).vectorize(x, 32, TailStrategy::RoundUp);
    f.vectorize(x, 4, TailStrategy::RoundUp);
    for (bool w : {false, true}) {
        wide.set(w);
        for (int size : {1, 31, 33}) {
            Buffer<int> out = f.realize({size});
            check_shape(out, {size});
            for (int i = 0; i < size; i++)
                CHECK(out(i) == i + 1);
        }
    }
}

TEST_CASE("several outputs, of which one is read by the other", "[driver][grown]") {
    Func f("f"), g("g");
    f(x, y) = Tuple(x + 10 * y, cast<float>(x));
    g(x, y) = f(x + 3, y)[0] + f(x, y - 2)[0];
    f.vectorize(x, 4, TailStrategy::RoundUp);
    for (int size : {1, 6}) {
        Realization out = Pipeline({f, g}).realize({size, size});
        REQUIRE(out.size() == 3);
        Buffer<int> first = out[0], last = out[2];
        Buffer<float> second = out[1];
        for (int i = 0; i < 3; i++)
            check_shape(out[static_cast<size_t>(i)], {size, size});
        first.for_each_element([&](int i, int j) {
            REQUIRE(first(i, j) == i + 10 * j);
            REQUIRE(second(i, j) == static_cast<float>(i));
            REQUIRE(last(i, j) == 2 * i + 20 * j - 17);
        });
    }
}

TEST_CASE("inputs have to cover what is computed, and are inferred so", "[driver][grown]") {
    ImageParam in(Int(32), 1, "in");
    Func f("f");
    f(x) = in(x)*2;
    f.vectorize(x, 8, TailStrategy::RoundUp);
    f.infer_input_bounds({30});
    CHECK(in.get().extent(0) == 32);
    Buffer<int>(in.get()).fill(21);
    Buffer<int> out = f.realize({30});
    check_shape(out, {30});
    CHECK(out(29) == 42);
    in.set(Buffer<int>(31));
    require_message<RuntimeError>([&] { f.realize({30}); }, {"Input in", "0 to 31", "0 to 30"});
}

TEST_CASE("a call with an output without memory asks how large it must be", "[driver][grown]") {
    Func f("f");
    f(x, y) = x + y;
    f.vectorize(x, 8, TailStrategy::RoundUp);
    Callable call = f.compile_to_callable({});
    Buffer<int> shape(nullptr, 20, 3);
    call(shape);
    CHECK(shape.extent(0) == 24);
    CHECK(shape.extent(1) == 3);
    CHECK(shape.stride(1) == 24);
    // One that is large enough keeps its strides.
    Buffer<int> strided(static_cast<int *>(nullptr), {{0, 8, 4}, {0, 3, 100}});
    call(strided);
    CHECK(strided.stride(0) == 4);
    CHECK(strided.stride(1) == 100);
}
