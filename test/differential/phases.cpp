// Vectors of what repeats every few elements (lower/phases.h), in memory that ends where the arguments do.
#include <pipe/pipe.h>

#include <vector>

#include <catch2/catch_test_macros.hpp>

#include "support/guarded_memory.h"

using namespace Pipe;
using testing::GuardedBuffer;

namespace {

using Shape = std::vector<std::pair<int, int>>;  // mins and extents

/// Planes put together, pictures made larger, and both: read exactly from `in`.
Func put_together(ImageParam in, int lanes, bool stored, TailStrategy tail) {
    Var x("x"), y("y");
    Func a("a"), b("b"), planes("planes"), larger("larger"), out("out");
    a(x, y) = in(x, y) * 3;
    b(x, y) = in(x, y) - y;
    Expr even = select(x % 2 == 0, a(x / 2, y / 2), b(x / 2, y / 2));
    Expr odd = select(x % 2 == 1, a(x / 2 + 1, y / 2), b((x + 1) / 2, y / 2));
    planes(x, y) = select(y % 2 == 0, even, odd);
    larger(x, y) = planes(x / 3, y) + planes(x / 3 + x % 3, y) + in(x, y);
    out(x, y) = larger(x, y) + planes(x + 1, y) * select(x % 4 == 3, larger(x / 2, y), 2);
    if (stored) {
        a.compute_root().vectorize(x, lanes);
        planes.compute_root().vectorize(x, lanes, TailStrategy::RoundUp);
        larger.compute_at(out, y).vectorize(x, lanes);
    }
    out.vectorize(x, lanes, tail);
    return out;
}

/// With an input of just what is read.
void check(Func out, ImageParam in, const Shape &shape) {
    GuardedBuffer got(Int(32), shape, 0, false), expected(Int(32), shape, 0, false);
    in.reset();
    out.infer_input_bounds(Realization(got.buffer));
    Shape needed;
    for (int d = 0; d < 2; d++)
        needed.emplace_back(int(in.get().dim(d).min()), int(in.get().dim(d).extent()));
    GuardedBuffer image(Int(32), needed, 0, false);
    int value = 1;
    Buffer<int>(image.buffer).for_each_value([&](int &v) { v = value = value * 75 % 65537; });
    in.set(image.buffer);
    testing::GuardedContext context;
    out.realize(&context, got.buffer);
    CHECK(context.overrun() == 0);
    out.realize_reference(Realization(expected.buffer));
    int wrong = 0;
    Buffer<int>(got.buffer)
        .for_each_value([&](int &v, int &w) { wrong += v != w; }, Buffer<int>(expected.buffer));
    CHECK(wrong == 0);
}

}  // namespace

TEST_CASE("planes put together and pictures made larger, as vectors", "[differential]") {
    ImageParam in(Int(32), 2, "in");
    for (TailStrategy tail :
         {TailStrategy::GuardWithIf, TailStrategy::Auto, TailStrategy::Predicate})
        for (int lanes : {4, 6, 16})
            for (bool stored : {false, true}) {
                Func out = put_together(in, lanes, stored, tail);
                INFO(lanes << " lanes, tail " << static_cast<int>(tail)
                           << (stored ? ", stored" : ""));
                check(out, in, {{0, 1}, {0, 1}});
                check(out, in, {{-5, 7}, {2, 3}});
                check(out, in, {{100, 33}, {-7, 5}});
            }
}
