// Numbers given to directives are int32, and types named in a program have no lanes.
#include <functional>
#include <string>

#include <pipe/pipe.h>

#include "test/support/require_message.h"

using namespace Pipe;

TEST_CASE("numbers of directives that int32 need not hold", "[error][directives]") {
    Var x("x"), xo("xo"), xi("xi");
    Func f("f"), g("g");
    ImageParam in(UInt(8), 1, "in");
    g(x) = x;
    f(x) = g(x) + in(x);
    g.compute_root();
    Param<uint32_t> wide("wide");
    Param<int64_t> wider("wider");
    const std::function<void(Expr)> directives[] = {
        [&](Expr n) { f.split(x, xo, xi, n); },
        [&](Expr n) { f.vectorize(x, n); },
        [&](Expr n) { f.parallel(x, n); },
        [&](Expr n) { f.unroll(x, n); },
        [&](Expr n) { f.tile({x}, {xo}, {xi}, {n}); },
        [&](Expr n) { f.bound(x, 0, n); },
        [&](Expr n) { f.bound(x, n, 5); },
        [&](Expr n) { f.bound_extent(x, n); },
        [&](Expr n) { f.align_bounds(x, n); },
        [&](Expr n) { f.align_bounds(x, 8, n); },
        [&](Expr n) { g.align_extent(x, n); },
        [&](Expr n) { f.set_estimate(x, 0, n); },
        [&](Expr n) { g.fold_storage(x, n); },
        [&](Expr n) { g.align_storage(x, n); },
        [&](Expr n) { g.bound_storage(x, n); },
        [&](Expr n) { g.ring_buffer(n); },
        [&](Expr n) { f.prefetch(g, x, x, n); },
        [&](Expr n) { in.dim(0).set_extent(n); },
        [&](Expr n) { in.dim(0).set_min(n); },
        [&](Expr n) { in.dim(0).set_estimate(0, n); },
    };
    for (const auto &directive : directives) {
        require_message<CompileError>([&] { directive(wide); },
                                      {"'wide' (uint32)", "must be an int32", "cast<int>"});
        require_message<CompileError>([&] { directive(wider); }, {"'wider' (int64)", "cast<int>"});
        require_message<CompileError>([&] { directive(Expr(int64_t{1} << 32)); },
                                      {"4294967296", "(int64)", "must fit into an int32"});
        require_message<CompileError>([&] { directive(cast<float>(4)); },
                                      {"(float32)", "must be an integer"});
        require_message<CompileError>([&] { directive(Expr()); }, {"undefined Expr"});
    }
    require_message<CompileError>([&] { in.dim(0).set_stride(wide); },
                                  {"'wide' (uint32)", "cast<int>"});
}

TEST_CASE("numbers of other types that int32 holds", "[error][directives]") {
    Var x("x"), xo("xo"), xi("xi");
    Param<uint16_t> factor("factor");
    factor.set(3);
    Func f("f");
    f(x) = x * x;
    f.split(x, xo, xi, factor).bound(x, cast<uint8_t>(0), Expr(int64_t{30})).unroll(xi, 2);
    Buffer<int> out = f.realize({30});
    for (int i = 0; i < 30; i++)
        CHECK(out(i) == i * i);
}

TEST_CASE("types with lanes", "[error][expressions]") {
    Var x("x");
    const Type lanes = UInt(8).with_lanes(4);
    auto refused = [&](const std::function<void()> &misuse, const char *what) {
        require_message<CompileError>(misuse,
                                      {what, "uint8x4", "4 lanes", "Use uint8", "vectorize()"});
    };
    refused([&] { cast(lanes, 42); }, "cast of '42'");
    refused([&] { cast(lanes, Expr(x)); }, "cast of 'x'");
    refused([&] { saturating_cast(lanes, Expr(x)); }, "saturating_cast of 'x'");
    refused([&] { reinterpret(lanes, cast<uint8_t>(x)); }, "reinterpret of");
    refused([&] { undef(lanes); }, "undef");
    refused([&] { extract_bits(lanes, Expr(x), 8); }, "extract_bits");
    refused([&] { Param<> p(lanes, "p"); }, "Param 'p'");
    refused([&] { Func f(lanes, 1, "f"); }, "Func 'f'");
    refused(
        [&] {
            Func f("f");
            f(x) = lanes.max();
        },
        "Func 'f'");
    require_message<CompileError>([&] { ImageParam p(lanes, 2, "p"); },
                                  {"ImageParam 'p'", "uint8x4"});
}
