// Where and how often extern stages and those around them are computed.
#include "support/everywhere.h"
#include "support/require_message.h"
#include "unit/language/extern_functions.h"

using namespace Pipe;
using namespace extern_functions;

namespace {

Var x("x"), y("y");

}  // namespace

TEST_CASE("an extern stage whose rows are kept from row to row", "[language][extern]") {
    Func in = ramp("in"), moved("moved"), out("out");
    moved.define_extern("pipe_extern_translate", {in, 5, -3}, Int(32), {x, y});
    out(x, y) = moved(x, y) + moved(x + 1, 2 * y);
    in.compute_root();
    moved.compute_at(out, y).store_root();
    for (auto [w, h, left, top] : everywhere::shapes) {
        Buffer<int> result(w, h);
        result.set_min(left, top);
        out.realize(result);
        result.for_each_element([&](int i, int j) {
            REQUIRE(result(i, j) == source(i + 5, j - 3) + source(i + 6, 2 * j - 3));
        });
    }
    in.compute_at(out, y).store_root();  // slides too
    Buffer<int> both(7, 5);
    out.realize(both);
    both.for_each_element([&](int i, int j) {
        REQUIRE(both(i, j) == source(i + 5, j - 3) + source(i + 6, 2 * j - 3));
    });
    in.compute_root();
    // Two threads would let it write one row: what it writes first may be something else.
    out.parallel(y);
    require_message<CompileError>([&] { out.compile_jit(); },
                                  {"moved.store_root", "parallel loop 'y'", "Store it inside"});
}

TEST_CASE("an extern stage computed per tile", "[language][extern]") {
    for (int how = 0; how < 4; how++) {
        Func in = ramp("in"), flipped("flipped"), out("out");
        Var xi("xi"), yi("yi");
        flipped.define_extern("pipe_extern_flip", {in}, Int(32), 2);
        out(x, y) = flipped(x - 1, y) + flipped(x + 1, y);
        out.tile(x, y, xi, yi, 16, 4, how == 1 ? TailStrategy::RoundUp : TailStrategy::GuardWithIf);
        flipped.compute_at(out, x);
        if (how == 1)
            in.compute_at(out, x), out.align_bounds(x, 16).align_bounds(y, 4);
        if (how == 2)
            in.compute_at(out, y).store_root(), out.vectorize(xi, 8);
        if (how == 3)
            in.compute_root(), out.parallel(y), flipped.store_at(out, y);
        for (auto [w, h, left, top] : everywhere::shapes) {
            if (how == 1)
                w = 32, h = 8, left = -16, top = 4;
            Buffer<int> result(w, h);
            result.set_min(left, top);
            out.realize(result);
            everywhere::compare(
                result, [](int i, int j) { return source(1 - i, j) + source(-1 - i, j); },
                std::equal_to<int>(), "tiles " + std::to_string(how));
        }
    }
}

// The last tile's 17 columns would end beyond the 102 that it said for all 100.
TEST_CASE("an extern stage computes what it said for a tile, at the image's end too",
          "[language][extern]") {
    for (int tile : {10, 17, 40}) {
        for (bool input_inside : {false, true}) {
            Func in = ramp("in"), more("more"), out("out");
            Var xo("xo"), xi("xi");
            more.define_extern("pipe_extern_seventeens", {in}, Int(32), {x, y});
            out(x, y) = more(x, y) * 2;
            out.split(x, xo, xi, tile, TailStrategy::GuardWithIf).reorder(xi, y, xo);
            more.compute_at(out, xo);
            input_inside ? in.compute_at(out, xo) : in.compute_root();
            for (auto [w, left] : {std::pair{100, 0}, {1, 0}, {17, -5}, {103, 7}}) {
                INFO(tile << ", " << w << " from " << left);
                Buffer<int> result(w, 3);
                result.set_min(left, 0);
                out.realize(result);
                result.for_each_element(
                    [&](int i, int j) { REQUIRE(result(i, j) == 2 * (source(i, j) + 1)); });
            }
        }
    }
}

// Where nothing is needed it was called for one point, unasked.
TEST_CASE("an extern stage is not called in iterations that need nothing of it",
          "[language][extern]") {
    RVar ro("ro"), ri("ri"), v0("v0"), v1("v1");
    Var u("u");
    Func in = ramp("in"), eights("eights"), f("f");
    RDom r(-1, 3, "r");
    in.compute_root();
    eights.define_extern("pipe_extern_eights", {in}, Int(32), {x, y});
    f(x) = 0;
    f(x) += eights(x, r);
    Func part = f.update().split(r, ro, ri, 2).rfactor(ro, u);
    part.update().split(ri, v0, v1, 2);
    eights.compute_at(part.update(), v1);
    Buffer<int> result = f.realize({1});
    CHECK(result(0) == source(0, -1) + source(0, 0) + source(0, 1) + 3);
}

TEST_CASE("Funcs around extern stages that are stored further out", "[language][extern]") {
    for (bool all : {false, true})
        everywhere::check<int>(
            [&] {
                Func in = ramp("in"), before("before"), moved("moved"), out("out");
                before(x, y) = in(x, y) + in(x, y - 1);
                moved.define_extern("pipe_extern_translate", {before, 1, 1}, Int(32), {x, y});
                out(x, y) = moved(x, y) + moved(x, y + 1) + in(x, y);
                moved.compute_at(out, y);
                before.compute_at(out, y).store_root();
                if (all)
                    in.compute_at(out, y).store_root();
                return out;
            },
            [](int i, int j) {
                auto b = [](int k, int l) { return source(k, l) + source(k, l - 1); };
                return b(i + 1, j + 1) + b(i + 1, j + 2) + source(i, j);
            });
}

TEST_CASE("autoschedule leaves extern stages at root", "[language][extern]") {
    for (bool placed : {false, true}) {
        Func in = ramp("in"), more("more"), moved("moved"), after("after"), out("out");
        more(x, y) = in(x, y) + in(x + 1, y);
        moved.define_extern("pipe_extern_translate", {more, 1, 1}, Int(32), {x, y});
        after(x, y) = moved(x, y) + moved(x, y + 1);
        out(x, y) = after(x, y) + after(x + 1, y);
        if (placed)
            more.compute_root();
        Pipeline p(out);
        p.autoschedule(Target());
        Buffer<int> result = p.realize({130, 70})[0], reference = out.realize_reference({130, 70});
        everywhere::compare(
            result, [&](int i, int j) { return reference(i, j); }, std::equal_to<int>(), "auto");
        std::string source = p.schedule_source();
        INFO(source);
        CHECK(source.find("moved\n    .compute_root()") != std::string::npos);
        CHECK(source.find("more\n    .compute_root()") != std::string::npos);
        CHECK(p.loop_nest().find("moved(x, y) = extern pipe_extern_translate") !=
              std::string::npos);
    }
}

// The ends of x, over which the extent of f was bounded, are what the C function says.
TEST_CASE("storage is not hoisted out of the loop in which its size is asked for",
          "[language][extern]") {
    Func f("f"), g("g"), e("e"), out("out");
    f(x, y) = x + y;
    f(0, y) += 1;
    g(x, y) = x + y;
    g(x, y) += f(x, y);
    e.define_extern("pipe_extern_pointwise", {g}, Int(32), {x, y});
    out(x, y) = e(x, y);
    e.compute_at(out, y);
    SECTION("beyond") {
        f.hoist_storage_root();
        require_message<CompileError>([&] { out.compile_jit(); },
                                      {"f.hoist_storage", "the C function of an extern stage"});
    }
    SECTION("inside") {
        f.hoist_storage(out, y);
        for (int width : {1, 7, 12}) {
            Buffer<int> got = out.realize({width, 3});
            got.for_each_element(
                [&](int i, int j) { CHECK(got(i, j) == 2 * (2 * (i + j) + (i == 0)) + 1); });
        }
    }
}

TEST_CASE("extern stages under async, hoist_storage, tracing and profiling", "[language][extern]") {
    auto expected = [](int i, int j) { return source(i + 1, j) + 2; };
    for (int how = 0; how < 4; how++) {
        Func in = ramp("in"), before("before"), moved("moved"), out("out");
        before(x, y) = in(x, y) + 2;
        moved.define_extern("pipe_extern_translate", {before, 1, 0}, Int(32), {x, y});
        out(x, y) = moved(x, y);
        before.compute_root();
        if (how == 0)
            moved.compute_at(out, y).async();
        if (how == 1)
            before.async();
        if (how == 2)
            moved.compute_at(out, y), out.vectorize(x, 4).unroll(x, 2);
        if (how == 3)
            moved.compute_at(out, y).trace_realizations().trace_loads(),
                before.trace_realizations();
        static int events;
        events = 0;
        out.jit_handlers().custom_trace = [](JITUserContext *, const TraceEvent *e) -> int32_t {
            events += e->event == TraceEventCode::Produce;
            return 1;
        };
        Target target = get_host_target();
        if (how == 2)
            target = target.with_feature(Target::Profile);
        out.jit_handlers().custom_print = [](JITUserContext *, const char *) {};
        Buffer<int> result = out.realize({19, 5}, target);
        everywhere::compare(result, expected, std::equal_to<int>(), "how " + std::to_string(how));
        CHECK(events == (how == 3 ? 6 : 0));
    }
}

TEST_CASE("a sum over all cores of what a C function computes", "[language][extern]") {
    Func in = ramp("in"), moved("moved"), total("total");
    RDom r(0, 40, 0, 30);
    moved.define_extern("pipe_extern_translate", {in, 2, 1}, Int(32), {x, y});
    total() += moved(r.x, r.y);
    total.update().parallel(r.y);
    int expected = 0;
    for (int j = 0; j < 30; j++)
        for (int i = 0; i < 40; i++)
            expected += source(i + 2, j + 1);
    CHECK(Buffer<int>(total.realize())() == expected);
    CHECK(Buffer<int>(total.realize_reference({}))() == expected);
}

TEST_CASE("extern stages and what they read are memoized", "[language][extern]") {
    for (bool tiles : {false, true}) {
        Param<int> dx("dx"), bias("bias");
        Func in("in"), moved("moved"), out("out");
        in(x, y) = 3 * x + 1000 * y + bias;
        moved.define_extern("pipe_extern_translate", {in, dx, 2}, Int(32), {x, y});
        out(x, y) = moved(x, y);
        in.compute_root().memoize();
        moved.memoize();
        if (tiles)
            moved.compute_at(out, y);
        calls = 0;
        for (auto [d, b] : {std::pair{1, 0}, {1, 0}, {2, 0}, {2, 5}}) {
            dx.set(d), bias.set(b);
            int added = b;
            Buffer<int> result = out.realize({9, 4});
            everywhere::compare(
                result, [&, d = d](int i, int j) { return source(i + d, j + 2) + added; },
                std::equal_to<int>(), "memoized");
        }
        CHECK(calls == (tiles ? 12 : 3));
    }
}

TEST_CASE("how often a C function is called", "[language][extern]") {
    Func in = ramp("in"), moved("moved"), out("out");
    moved.define_extern("pipe_extern_translate", {in, 0, 0}, Int(32), {x, y});
    out(x, y) = moved(x, y);
    out.compile_jit();
    calls = 0;
    out.realize({10, 6});
    CHECK(calls == 1);
    moved.compute_at(out, y);
    calls = 0;
    out.realize({10, 6});
    CHECK(calls == 6);
}
