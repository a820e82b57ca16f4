// Tables that vectors look up: of 256 bytes by bytes (codegen/lookup.cpp), and others.
#include <catch2/catch_test_macros.hpp>

#include <pipe/pipe.h>

using namespace Pipe;

namespace {

/// The elements where a vectorized look-up differs from a loop in C++. `entries` of the table are computed.
template <typename T> int wrong_lookups(int lanes, int width, int entries, TailStrategy tail) {
    Var x("x"), y("y"), b("b");
    Buffer<uint8_t> in(width, 3);
    in.fill([](int x, int y) { return static_cast<uint8_t>(x * 37 + y * 101 + x / 5); });
    Func table("table"), out("out");
    table(b) = cast<T>(b * b + 7 * b);
    const Expr pixel = in(x, y);
    out(x, y) = table(entries == 256 ? cast<int>(pixel) : cast<int>(min(pixel, entries - 1)));
    table.compute_root();
    out.vectorize(x, lanes, tail).parallel(y);
    Buffer<T> result = out.realize({width, 3});
    int wrong = 0;
    result.for_each_element([&](int x, int y) {
        const int i = std::min<int>(in(x, y), entries - 1);
        wrong += result(x, y) != static_cast<T>(i * i + 7 * i);
    });
    return wrong;
}

}  // namespace

TEST_CASE("vectors look up a table", "[codegen]") {
    for (int lanes : {4, 16, 32, 64, 128})
        for (int width : {128, 131, 200})
            for (int entries : {256, 100})
                for (TailStrategy tail : {TailStrategy::GuardWithIf, TailStrategy::ShiftInwards}) {
                    INFO(lanes << " lanes, " << width << " pixels, " << entries << " entries");
                    CHECK(wrong_lookups<uint8_t>(lanes, width, entries, tail) == 0);
                    CHECK(wrong_lookups<int8_t>(lanes, width, entries, tail) == 0);
                    CHECK(wrong_lookups<uint16_t>(lanes, width, entries, tail) == 0);
                }
}
