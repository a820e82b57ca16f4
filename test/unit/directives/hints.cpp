// Directives that change no result: partition, prefetch, non-temporal access; levels that are set
// later; eager_inline, unscheduled; what is not there.
#include <functional>
#include <sstream>

#include <catch2/catch_template_test_macros.hpp>

#include "compare.h"
#include "ir/print.h"
#include "language/freeze.h"
#include "lower/lower.h"
#include "support/require_message.h"
#include "support/temp_folder.h"

using namespace Pipe;
using namespace Pipe::testing;

namespace {

Var x("x"), y("y"), xo("xo"), xi("xi"), yo("yo"), yi("yi");

std::string loops(const Func &output, const std::string &stop_after = "") {
    language::Frozen frozen = language::freeze({output});
    lower::LowerOptions options;
    options.stop_after = stop_after;
    graph::Graph inlined = graph::inline_funcs(frozen.graph, frozen.schedule);
    return ir::to_string(lower::lower(inlined, frozen.schedule, get_host_target(), options).body);
}

int count(const std::string &text, const std::string &part) {
    int n = 0;
    for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
        n++;
    return n;
}

struct Clamped {
    ImageParam in{Int(32), 2, "in"};
    Func f{"f"};
    Clamped() {
        auto at = [&](const Expr &i) { return in(clamp(i, 0, in.width() - 1), y); };
        f(x, y) = at(x - 1) + at(x) + at(x + 1);
    }
    void check() {
        for (int width : {1, 3, 17}) {
            GuardedBuffer image = noise<int>({{0, width}, {-2, 7}});
            in.set(image.buffer);
            check_equal(f, {{0, width}, {0, 5}});
            check_equal(f, {{-7, width + 9}, {-2, 3}});
        }
    }
};

}  // namespace

TEST_CASE_METHOD(Clamped, "partition", "[hints]") {
    CHECK(count(loops(f), "for f.s0.x") == 3);
    SECTION("never") {
        f.never_partition(x);
        CHECK(count(loops(f), "for f.s0.x") == 1);
    }
    SECTION("never, all of them") {
        f.never_partition_all();
        CHECK(count(loops(f), "for f.s0.x") == 1);
        CHECK(Pipeline(f).schedule_source().find(".never_partition(f_y)") != std::string::npos);
    }
    SECTION("always") {
        f.always_partition(x);
        CHECK(count(loops(f), "for f.s0.x") == 3);
        CHECK(Pipeline(f).loop_nest() == "produce f:\n"
                                         "  for y:\n"
                                         "    for x partitioned:\n"
                                         "      f(x, y) = ...\n");
    }
    SECTION("a short loop too") {
        f.bound(x, 0, 4);
        CHECK(count(loops(f), "for f.s0.x") == 1);
        f.partition(x, Partition::Always);
        CHECK(count(loops(f), "for f.s0.x") > 1);
        GuardedBuffer image = noise<int>({{0, 4}, {0, 5}});
        in.set(image.buffer);
        check_equal(f, {{0, 4}, {0, 5}});
        return;
    }
    check();
}

TEST_CASE_METHOD(Clamped, "always_partition where nothing is at the ends", "[hints]") {
    f.always_partition_all();  // y is not clamped
    require_message<CompileError>([&] { f.compile_jit(); },
                                  {"always_partition of y of f (hints.cpp:", "at its ends"});
}

TEST_CASE_METHOD(Clamped, "always_partition of a vector", "[hints]") {
    f.vectorize(x, 4).always_partition(y);
    f.always_partition(Var("x_lane"));
    require_message<CompileError>([&] { f.compile_jit(); },
                                  {"f.always_partition(x_lane)", "vectorized"});
}

TEST_CASE("prefetch of an image", "[hints]") {
    for (auto strategy : {PrefetchBoundStrategy::Clamp, PrefetchBoundStrategy::GuardWithIf,
                          PrefetchBoundStrategy::NonFaulting}) {
        Clamped c;
        c.f.prefetch(c.in, y, y, 2, strategy);
        std::string text = loops(c.f);
        CHECK(count(text, "prefetch in(") >= 1);
        CHECK(loops(c.f, "build").find("for f.s0.y.prefetch.in.0 in [0, ") != std::string::npos);
        c.check();
        TempFolder folder;
        c.f.compile_to_llvm_assembly(folder / "f.ll", {c.in}, "f");
        CHECK(count(folder.read("f.ll"), "call void @llvm.prefetch") >= 1);
        CHECK(Pipeline(c.f).loop_nest() == "produce f:\n"
                                           "  for y:\n"
                                           "    prefetch in of y + 2\n"
                                           "    for x:\n"
                                           "      f(x, y) = ...\n");
    }
}

TEST_CASE_METHOD(Clamped, "prefetch of an image in a vectorized loop", "[hints]") {
    f.vectorize(x, 8, TailStrategy::GuardWithIf).prefetch(in, x, y, 1);
    CHECK(Pipeline(f).schedule_source().find(
              ".prefetch(in, f_x, f_y, 1, PrefetchBoundStrategy::GuardWithIf)") !=
          std::string::npos);
    check();
}

TEST_CASE("prefetch of a constant Buffer", "[hints]") {
    GuardedBuffer noisy = noise<int>({{0, 40}, {0, 30}});
    Buffer<int> table(noisy.buffer), other(4, 4);
    Func f("f");
    f(x, y) = table(clamp(x, 0, 39), clamp(y, 0, 29)) + table(clamp(x + 1, 0, 39), 3);
    SECTION("read") {
        for (auto strategy : {PrefetchBoundStrategy::Clamp, PrefetchBoundStrategy::GuardWithIf,
                              PrefetchBoundStrategy::NonFaulting}) {
            f.prefetch(table, y, y, 2, strategy);
            std::string text = loops(f);
            CHECK(count(text, "prefetch ") >= 1);
            check_sizes(f, {1, 9, 45});
        }
    }
    SECTION("not read") {
        f.prefetch(other, y, y);
        require_message<CompileError>(
            [&] {
                f.realize({4, 4});
            },
            {"f.prefetch(", "not part of the pipeline"});
    }
}

TEST_CASE("prefetch of a Func", "[hints]") {
    Func f("f"), g("g"), h("h");
    f(x, y) = Tuple(x + y, x * y);
    g(x, y) = f(x, y)[0] + f(x, y + 1)[1];
    h(x, y) = x;
    f.compute_root();
    SECTION("folded, hoisted, plain") {
        g.prefetch(f, y, y, 3, PrefetchBoundStrategy::Clamp);
        CHECK(count(loops(g), "prefetch f.1(") == 1);
        check_sizes(g, {1, 9});
        f.compute_at(g, y).store_root();
        check_sizes(g, {1, 9});
    }
    SECTION("stored inside") {
        f.compute_at(g, y);
        g.prefetch(f, x, y);
        require_message<CompileError>(
            [&] {
                g.realize({4, 4});
            },
            {"g.prefetch(f, x, y)", "stored inside", "further out"});
    }
    SECTION("stored inside, in memory from further out") {  // seed 4000049052: an undefined name
        g.split(x, xo, xi, 4).split(y, yo, yi, 2);
        f.compute_at(g, xo).hoist_storage(g, yo);
        g.prefetch(f, yi, yi);
        require_message<CompileError>(
            [&] {
                g.realize({4, 4});
            },
            {"g.prefetch(f, yi, yi)", "stored inside", "further out"});
    }
    SECTION("inlined") {
        f.compute_inline();
        g.prefetch(f, x, y);
        require_message<CompileError>(
            [&] {
                g.realize({4, 4});
            },
            {"g.prefetch(f, x, y)", "inlined"});
    }
    SECTION("not read") {
        g.prefetch(h, x, y);
        require_message<CompileError>(
            [&] {
                g.realize({4, 4});
            },
            {"g.prefetch(h, x, y)", "not part of the pipeline"});
    }
    SECTION("inside out") {
        require_message<CompileError>([&] { g.prefetch(f, y, x); },
                                      {"g.prefetch(f, y, x)", "'x' is inside 'y'"});
    }
}

TEST_CASE("prefetch of what is read inside of the loop", "[hints]") {
    GuardedBuffer noisy = noise<int>({{-9, 60}, {-9, 60}}),
                  other = noise<int>({{-9, 60}, {-9, 60}});
    ImageParam in(Int(32), 2, "in"), late(Int(32), 2, "late");
    in.set(noisy.buffer);
    late.set(other.buffer);
    Func f("f"), g("g"), h("h");
    f(x, y) = in(x, y) + in(x + 1, y);
    g(x, y) = f(x, y) + f(x, y + 1);
    h(x, y) = g(x, y) + late(x, y);
    g.compute_root().split(x, xo, xi, 4, TailStrategy::GuardWithIf).reorder(xi, y, xo);
    f.compute_at(g, y);
    SECTION("by a Func that is computed there") {
        g.prefetch(in, y, xo, 2);
        const std::string text = loops(h);
        CHECK(count(text, "prefetch in(") >= 1);
        check_sizes(h, {1, 9, 30});
    }
    SECTION("by a consumer alone") {
        g.prefetch(late, y, xo);
        require_message<CompileError>(
            [&] {
                h.realize({4, 4});
            },
            {"g.prefetch(late, y, xo)", "neither the definition nor", "inside the loop 'y'",
             "reads 'late'"});
    }
}

TEST_CASE("prefetch inside a sum over all cores", "[hints]") {
    GuardedBuffer noisy = noise<int>({{0, 40}, {0, 30}});
    ImageParam in(Int(32), 2, "in");
    in.set(noisy.buffer);
    RDom r(0, in.width(), 0, in.height(), "r");
    Func sum("sum");
    sum(x, y) = 0;
    sum(x, y) += in(r.x, r.y) * (x + y);
    Stage stage = sum.update();
    SECTION("at the parallel loop") {
        stage.parallel(r.y).prefetch(in, r.y, r.y, 1);
    }
    SECTION("at loops inside") {
        stage.parallel(r.y).vectorize(r.x, 8).prefetch(in, r.x, r.x, 2);
    }
    SECTION("at loops around the parts") {
        stage.split(x, xo, xi, 4).reorder(r.x, r.y, xi, xo).parallel(r.y).prefetch(in, xi, xo);
    }
    SECTION("vectors") {
        stage.vectorize(r.x, 8).prefetch(in, r.y, r.y, 1);
    }
    TempFolder folder;
    sum.compile_to_lowered_stmt(folder / "sum.txt", {in});
    CHECK(count(folder.read("sum.txt"), "prefetch in(") >= 1);
    check_sizes(sum, {1, 9});
}

TEST_CASE("non-temporal stores and loads", "[hints]") {
    Func f("f"), g("g");
    f(x, y) = x + y;
    g(x, y) = f(x, y) * 2;
    f.compute_root().parallel(y).vectorize(x, 8).store_nontemporal().load_nontemporal();
    g.vectorize(x, 4, TailStrategy::GuardWithIf).store_nontemporal();
    check_sizes(g, {1, 8, 100});
    language::Frozen frozen = language::freeze({g});
    auto program = lower::lower(graph::inline_funcs(frozen.graph, frozen.schedule), frozen.schedule,
                                get_host_target());
    CHECK(program.nontemporal_stores == std::set<std::string>{"f", "g"});
    CHECK(program.nontemporal_loads == std::set<std::string>{"f"});
    CHECK(Pipeline(g).schedule_source().find(".load_nontemporal()") != std::string::npos);
    TempFolder folder;
    g.compile_to_llvm_assembly(folder / "g.ll", {}, "g");
    std::istringstream lines(folder.read("g.ll"));
    int loads = 0;
    for (std::string line; std::getline(lines, line);)
        loads += line.find(" load ") != std::string::npos &&
                 line.find("!nontemporal") != std::string::npos;
    CHECK(loads > 0);
}

// LLVM made loads of bytes of them, for which no x86 has an instruction (seed 4100043399).
TEST_CASE("single lanes of what is loaded past the caches", "[hints]") {
    Param<int8_t> p("p");
    p.set(7);
    for (int lanes : {8, 16, 32}) {
        Func f("f"), g("g");
        f(x, y) = x * 5 + y;
        g(x, y) = cast<int>(mod_round_to_zero(cast<int8_t>(f(x, y)), p));
        f.compute_root().load_nontemporal();
        g.vectorize(x, lanes, TailStrategy::GuardWithIf);
        check_sizes(g, {1, 8, 100});
        TempFolder folder;
        for (const char *target : {"x86-64-linux", "x86-64-linux-sse41-avx-f16c-fma-avx2",
                                   "x86-64-linux-sse41-avx-f16c-fma-avx2-avx512-avx512_skylake"}) {
            g.compile_to_assembly(folder / "g.s", {p}, "g", Target(target));
            CHECK(count(folder.read("g.s"), "idiv") > 0);
        }
    }
}

TEMPLATE_TEST_CASE("what bypasses the caches may lie at any address", "[hints]", uint8_t, uint16_t,
                   float, double) {
    const int lanes = get_host_target().natural_vector_size(type_of<TestType>());
    Func f("f");
    f(x, y) = cast<TestType>(x * 3 + y * 5);
    f.store_nontemporal();
    SECTION("vectors of one register") {
        f.vectorize(x, lanes);
    }
    SECTION("of several, and what is left at the end of a row") {
        f.vectorize(x, 2 * lanes, TailStrategy::GuardWithIf).parallel(y);
    }
    // rows that begin at multiples of the vectors, and at all others: memory ends, or begins, at a page
    check_sizes<TestType>(f, {1, lanes, 4 * lanes, 4 * lanes + 1, 6 * lanes + lanes / 2});
    TempFolder folder;
    f.compile_to_llvm_assembly(folder / "f.ll", {}, "f");
    CHECK(count(folder.read("f.ll"), "!nontemporal") >= 1);
}

TEST_CASE("a LoopLevel that is set later", "[hints]") {
    Func f("f"), g("g");
    f(x, y) = x + y;
    LoopLevel compute, store;
    f.compute_at(compute).store_at(store);
    g(x, y) = f(x, y) + f(x, y + 1);
    require_message<CompileError>(
        [&] {
            g.realize({4, 4});
        },
        {"f.compute_at(LoopLevel)", "undefined", "set()"});
    CHECK_FALSE(compute.defined());
    LoopLevel copy = compute;
    copy.set(LoopLevel(g, y));
    store.set(LoopLevel::root());
    CHECK(compute == LoopLevel(g, y));
    CHECK(compute.to_string() == "g.y");
    CHECK(store.is_root());
    check_sizes(g, {1, 9});
    CHECK(Pipeline(g).schedule_source().find(".compute_at(g, g_y)\n    .store_root()") !=
          std::string::npos);
    CHECK(compute.locked());
    require_message<CompileError>([&] { compute.set(LoopLevel::root()); },
                                  {"LoopLevel::set(root)", "locked"});
    require_message<CompileError>([&] { (void)store.func(); }, {"LoopLevel::func", "root"});
}

TEST_CASE("eager_inline of a chain whose Funcs read the one before twice does not double",
          "[hints]") {
    constexpr int length = 40;
    std::vector<Func> chain;
    Func f("f");
    for (int i = 0; i < length; i++) {
        Func g("g" + std::to_string(i));
        if (i == 0)
            g(x) = x;
        else
            g(x) = chain.back()(x) % 100 + chain.back()(x + 1) % (i + 1);
        chain.push_back(g);
    }
    f(x) = chain.back()(x) + chain.back()(x - 1);
    for (int i = length - 1; i >= 0; i--)
        f.eager_inline(chain[static_cast<size_t>(i)]);
    std::vector<int> expected(length + 20);
    for (size_t j = 0; j < expected.size(); j++)
        expected[j] = static_cast<int>(j) - 1;
    for (int i = 1; i < length; i++)
        for (size_t j = 0; j + 1 < expected.size(); j++)
            expected[j] =
                (expected[j] % 100 + 100) % 100 + (expected[j + 1] % (i + 1) + i + 1) % (i + 1);
    Buffer<int> out = f.realize({10});
    for (int i = 0; i < 10; i++)
        CHECK(out(i) == expected[static_cast<size_t>(i) + 1] + expected[static_cast<size_t>(i)]);
}

TEST_CASE("eager_inline", "[hints]") {
    Func a("a"), b("b"), c("c");
    Param<int> same("x");  // has a Var's name
    a(x) = x * 2 + same;
    b(x) = a(x + 1) + 1;
    c(x) = b(x) + a(x);
    RDom r(0, 4, "r");
    c(x) += a(r) * x;
    c.eager_inline(a, b);  // in any order
    c.update().eager_inline(std::vector<Func>{a});
    same.set(5);
    CHECK(language::freeze({c}).graph.funcs.size() == 1);
    Buffer<int> out = c.realize({5});
    for (int i = 0; i < 5; i++) {
        int expected = (2 * (i + 1) + 5) + 1 + (2 * i + 5) + i * (2 * 6 + 4 * 5);
        CHECK(out(i) == expected);
    }
    for (int width : {1, 5, 33})
        for (int min : {-7, 3})
            check_equal(c, {{min, width}});
    require_message<CompileError>([&] { b.eager_inline(c); },
                                  {"b.eager_inline", "'c' has updates"});
}

TEST_CASE("unscheduled", "[hints]") {
    Func f("f");
    f(x, y) = x;
    f(x, y) += 1;
    f.update().unscheduled();
    CHECK(Pipeline(f).schedule_source().find("f.update(0)\n    .unscheduled()") !=
          std::string::npos);
    require_message<CompileError>([&] { f.update().unscheduled(); },
                                  {"f.update(0).unscheduled", "already has directives"});
    check_sizes(f, {1, 5});
    // The autoscheduler leaves it as it is.
    for (bool unscheduled : {false, true}) {
        Func g("g");
        g(x, y) = x;
        g(x, y) += y;
        if (unscheduled)
            g.update().unscheduled();
        Pipeline pipeline(g);
        pipeline.autoschedule(get_host_target());
        const std::string source = pipeline.schedule_source();
        const std::string update = source.substr(source.find("g.update(0)"));
        INFO(source);
        CHECK(count(update, "vectorize(") == (unscheduled ? 0 : 1));
        check_sizes(pipeline, {1, 5, 33});
    }
}

TEST_CASE("allow_race_conditions", "[hints]") {
    Func f("f");
    RDom r(0, 8, "r");
    f(x) = 0;
    f(r) = f(r) + 1;
    f(r / 2 * 2) = 5 + r / 2;  // two each write the same
    f.update(1).parallel(r);
    require_message<CompileError>([&] { f.realize({8}); }, {"f.update(1).parallel(r$x)"});
    f.update(1).allow_race_conditions();
    check_equal(f, {{0, 8}});
    CHECK(Pipeline(f).schedule_source().find(".allow_race_conditions()") != std::string::npos);
}

TEST_CASE("allow_race_conditions, at all sizes and places", "[hints]") {
    for (int n : {1, 7, 64}) {
        INFO(n);
        Func f("f"), g("g");
        RDom r(-3, n, "r");
        f(x) = 0;
        f(r / 2 * 2) = 5 + r / 2;  // two each write the same
        g(x) = f(x);
        f.compute_root().update().allow_race_conditions().parallel(r);
        for (int width : {1, 9, 33})
            for (int min : {0, -7})
                check_equal(g, {{min, width}});
    }
}

TEST_CASE("directives of loops, and estimates, at all sizes and places", "[hints]") {
    struct Case {
        const char *name;
        std::function<void(Func &)> give;
    };
    Var t("t");
    const TailStrategy guard = TailStrategy::GuardWithIf;
    const Case cases[] = {
        {"fuse", [&](Func &f) { f.fuse(x, y, t).parallel(t); }},
        {"rename", [&](Func &f) { f.rename(x, t).vectorize(t, 4, guard); }},
        {"serial", [&](Func &f) { f.parallel(y).serial(y); }},
        {"parallel in tasks", [&](Func &f) { f.parallel(x, 4, guard); }},
        {"reorder", [&](Func &f) { f.reorder(y, x); }},
        {"tile, lists",
         [&](Func &f) {
             f.tile({x, y}, {xi, yi}, {4, 2}, guard);
         }},
        {"unroll", [&](Func &f) { f.unroll(x, 3, guard); }},
        {"estimates",
         [&](Func &f) {
             f.set_estimates({{0, 100}, {0, 100}}).set_estimate(x, -3, 9);
         }},
    };
    for (const Case &c : cases) {
        INFO(c.name);
        Func f("f");
        f(x, y) = 7 * x - y;
        c.give(f);
        check_sizes(f, {1, 7, 33});
    }
}

TEST_CASE("a schedule for estimated sizes is right at all sizes and places", "[hints]") {
    Func f("f"), g("g");
    f(x, y) = 7 * x - y;
    g(x, y) = f(x, y) + f(x + 1, y - 1);
    g.set_estimates({{0, 100}, {0, 100}});
    Pipeline pipeline(g);
    pipeline.autoschedule(get_host_target());
    pipeline.compile_jit(Sizes{100, 100});
    check_sizes(pipeline, {1, 7, 33});
}

TEST_CASE("tile in all forms", "[hints]") {
    auto nest = [](auto &&tile) {
        Func f("f");
        f(x, y) = x;
        tile(f);
        check_sizes(f, {8, 11});
        return Pipeline(f).loop_nest();
    };
    std::string expected =
        nest([](Func &f) { f.tile(x, y, x, y, xi, yi, 4, 2, TailStrategy::GuardWithIf); });
    CHECK(nest([](Func &f) { f.tile(x, y, xi, yi, 4, 2, TailStrategy::GuardWithIf); }) == expected);
    CHECK(nest([](Func &f) {
              f.tile({x, y}, {xi, yi}, {4, 2}, TailStrategy::GuardWithIf);
          }) == expected);
    CHECK(nest([](Func &f) {
              f.tile({x, y}, {x, y}, {xi, yi}, {4, 2},
                     {TailStrategy::GuardWithIf, TailStrategy::Predicate});
          }) == expected);
    Func f("f");
    f(x, y) = x;
    require_message<CompileError>([&] { f.tile({x, y}, {xi}, {4, 2}); }, {"f.tile", "2 loops"});
}

TEST_CASE("RVars unrolled and vectorized where that is legal", "[hints]") {
    Func f("f");
    RDom r(0, 8, 0, 5, "r");
    f(x, y) = x;
    f(r.x, y) += r.y;
    RVar ri("ri");
    f.update().unroll(r.y).vectorize(r.x, 4);
    for (int width : {8, 12})
        check_equal(f, {{0, width}, {0, 3}});
}
