// compute_with: stages of other sizes and nests in one loop, and why some cannot be.
#include "compare.h"
#include "support/require_message.h"

using namespace Pipe;
using namespace Pipe::testing;

namespace {

Var x("x"), y("y"), xo("xo"), xi("xi"), yi("yi");

struct Pair {
    Func a{"a"}, b{"b"}, out{"out"};
    Pair() {
        a(x, y) = x + 2 * y;
        b(x, y) = x * y;
        out(x, y) = a(x + 3, y) + b(x, y + 5) + b(x, y - 2);
        a.compute_root();
        b.compute_root();
    }
};

}  // namespace

TEST_CASE_METHOD(Pair, "other extents", "[compute_with]") {
    SECTION("rows") {
        b.compute_with(a, y);
    }
    SECTION("elements") {
        b.compute_with(a, x);
    }
    SECTION("by a LoopLevel") {
        b.compute_with(LoopLevel(a, y));
    }
    SECTION("other inner loops") {
        a.vectorize(x, 8, TailStrategy::RoundUp);
        b.split(x, xo, xi, 3, TailStrategy::GuardWithIf).unroll(xi);
        b.compute_with(a, y);
    }
    SECTION("tails that blend") {
        a.split(x, xo, xi, 4, TailStrategy::RoundUpAndBlend);
        b.split(x, xo, xi, 4, TailStrategy::PredicateStores);
        b.compute_with(a, xo);
    }
    check_sizes(out, {1, 4, 17});
}

TEST_CASE_METHOD(Pair, "what forbids it", "[compute_with]") {
    Func c("c"), d("d");
    c(x, y) = a(x, y) + 1;
    d(x, y) = out(x, y) + c(x, y);
    out.compute_root();
    c.compute_root();
    out.compute_with(a, y);
    require_message<CompileError>(
        [&] {
            d.realize({4, 4});
        },
        {"out.compute_with(a, y)", "'out' at compute_with.cpp:", "reads 'a'",
         "before the other begins"});
    Func e("e");
    e(x, y) = out(x, y) + d(x, y);
    d.compute_root().compute_with(c, y);
    out.compute_root();
    require_message<CompileError>([&] { e.realize({4, 4}); }, {"compute_with", "reads"});
    require_message<CompileError>([&] { b.compute_with(a, y, LoopAlignStrategy::AlignEnd); },
                                  {"b.compute_with(a, y)", "not there yet", "NoAlign"});
    require_message<CompileError>([&] { b.compute_with(LoopLevel::root()); },
                                  {"b.compute_with(root)", "names no loop"});
}

TEST_CASE_METHOD(Pair, "through others", "[compute_with]") {
    Func c("c"), d("d");
    c(x, y) = b(x, y) + 1;
    d(x, y) = c(x, y) + a(x, y);
    c.compute_root();
    d.compute_root();
    Func e("e");
    e(x, y) = d(x, y);
    d.compute_with(b, y);
    require_message<CompileError>(
        [&] {
            e.realize({4, 4});
        },
        {"d.compute_with(b, y)", "reads 'c', which reads 'b'"});
}
