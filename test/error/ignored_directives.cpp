// No directive is silently ignored: where it has nothing to act on, it is refused with a reason.
#include <pipe/pipe.h>

#include "test/support/require_message.h"

#include <cstdlib>
#include <filesystem>

using namespace Pipe;

namespace {

struct Misplaced {
    const char *name;  ///< as messages write it
    std::function<void(Func &f)> give;
};

const Var x("x"), y("y"), xo("xo"), xi("xi"), t("t");

/// f is read by c, and nothing else is said of it: so it is inlined.
const Misplaced of_loops[] = {
    {"vectorize(x)", [](Func &f) { f.vectorize(x); }},
    {"parallel(x)", [](Func &f) { f.parallel(x); }},
    {"unroll(y)", [](Func &f) { f.unroll(y); }},
    {"split(x)", [](Func &f) { f.split(x, xo, xi, 4); }},
    {"split(x)", [](Func &f) { f.tile(x, y, xo, t, xi, Var("yi"), 4, 4); }},
    {"fuse(x, y, t)", [](Func &f) { f.fuse(x, y, t); }},
    {"rename(x)", [](Func &f) { f.rename(x, t); }},
    {"reorder", [](Func &f) { f.reorder(y, x); }},
    {"partition(x)", [](Func &f) { f.never_partition(x); }},
    {"specialize", [](Func &f) { f.specialize(Param<bool>("p")); }},
    {"bound(x)", [](Func &f) { f.bound(x, 0, 9); }},
    {"bound_extent(x)", [](Func &f) { f.bound_extent(x, 9); }},
    {"align_bounds(x)", [](Func &f) { f.align_bounds(x, 8, 0); }},
    {"align_extent(x)", [](Func &f) { f.align_extent(x, 8); }},
    {"store_nontemporal", [](Func &f) { f.store_nontemporal(); }},
    {"load_nontemporal", [](Func &f) { f.load_nontemporal(); }},
    {"no_profiling", [](Func &f) { f.no_profiling(); }},
    {"allow_race_conditions", [](Func &f) { f.allow_race_conditions(); }},
};

}  // namespace

TEST_CASE("directives of loops on a Func that is inlined", "[error][directives]") {
    for (const Misplaced &directive : of_loops) {
        DYNAMIC_SECTION(directive.name) {
            Func f("f"), c("c");
            f(x, y) = x + y;
            c(x, y) = f(x, y) + f(x + 1, y);
            directive.give(f);
            require_message<CompileError>([&] { c.compile_jit(); },
                                          {directive.name, "f", "ignored_directives.cpp:",
                                           "it is inlined", "compute_root()"});
        }
    }
}

TEST_CASE("loads of an output that nobody reads", "[error][directives]") {
    Func f("f");
    f(x, y) = x + y;
    SECTION("non-temporal") {
        f.load_nontemporal();
        require_message<CompileError>([&] { f.compile_jit(); },
                                      {"f.load_nontemporal", "an output that no other Func reads"});
    }
    SECTION("but by its own update") {
        f(x, y) += 1;
        f.load_nontemporal();
        CHECK_NOTHROW(f.compile_jit());
    }
}

TEST_CASE("eager_inline of a Func that is not called", "[error][directives]") {
    Func f("f"), g("g"), h("h");
    f(x) = x;
    g(x) = f(x) + 1;
    h(x) = f(x) + 2;
    require_message<CompileError>([&] { h.eager_inline(f, g); },
                                  {"h.eager_inline", "does not call 'g'"});
}

TEST_CASE("an output is computed and stored at root", "[error][directives]") {
    Func f("f"), g("g");
    f(x, y) = x + y;
    g(x, y) = f(x, y) + 1;
    Pipeline both({f, g});
    SECTION("computed elsewhere") {
        f.compute_at(g, y);
        require_message<CompileError>([&] { both.compile_jit(); },
                                      {"f.compute_at", "an output of the pipeline", "at root"});
    }
    SECTION("stored elsewhere") {  // found by random directives, seed 1710
        f.store_at(g, y);
        require_message<CompileError>([&] { both.compile_jit(); },
                                      {"f.store_at", "an output of the pipeline", "at root"});
    }
    SECTION("stored where nobody reads it") {
        f.compute_root();
        g.store_at(f, y);
        require_message<CompileError>([&] { both.compile_jit(); }, {"g.store_at", "an output"});
    }
}

TEST_CASE("prefetch at a loop that another directive took away", "[error][directives]") {
    Func f("f"), c("c");
    f(x, y) = x + y;
    c(x, y) = f(x, y);
    f.compute_root();
    c.prefetch(f, y, y, 1);
    c.split(y, xo, xi, 4);
    require_message<CompileError>([&] { c.compile_jit(); },
                                  {"prefetch(f, y, y)", "'y' no longer exists", "after split()"});
}

TEST_CASE("a ring buffer whose copies could not take turns", "[error][directives]") {
    Func f("f"), c("c");
    f(x, y) = x + y;
    c(x, y) = f(x, y);
    f.compute_at(c, y).hoist_storage(c, y).ring_buffer(2);
    require_message<CompileError>([&] { c.compile_jit(); },
                                  {"ring_buffer", "no loop in whose", "Hoist the storage"});
}

TEST_CASE("fuse of loops that run in different ways", "[error][directives]") {
    Func f("f");
    f(x, y) = x + y;
    f.vectorize(x, 8).parallel(y);
    require_message<CompileError>([&] { f.fuse(x, y, t).fuse(t, y, x); }, {"f.fuse("});
    Func g("g");
    g(x, y) = x + y;
    g.unroll(x).parallel(y);
    require_message<CompileError>([&] { g.fuse(x, y, t); },
                                  {"g.fuse(x, y, t)", "cannot have both", "Fuse first"});
}

TEST_CASE("fuse keeps how a loop runs", "[directives]") {
    for (bool inner : {false, true}) {
        Func f("f");
        f(x, y) = x + y;
        f.parallel(inner ? x : y).fuse(x, y, t);
        Pipeline p(f);
        CHECK(p.schedule_source().find("parallel(") != std::string::npos);
        Buffer<int> got = f.realize({5, 3});
        got.for_each_element([&](int x, int y) { REQUIRE(got(x, y) == x + y); });
    }
}

TEST_CASE("specialize of a condition that was given before is the same copy", "[directives]") {
    Func f("f");
    Param<bool> p("p");
    f(x, y) = x + y;
    f.specialize(p).vectorize(x, 4, TailStrategy::GuardWithIf);
    f.specialize(p).parallel(y);
    Pipeline pipeline(f);
    const std::string source = pipeline.schedule_source();
    INFO(source);
    CHECK(source.find("specialize(p)") == source.rfind("specialize(p)"));
    CHECK(source.find("parallel(f_y)") != std::string::npos);
    for (bool value : {false, true}) {
        p.set(value);
        Buffer<int> got = f.realize({5, 3});
        got.for_each_element([&](int x, int y) { REQUIRE(got(x, y) == x + y); });
    }
}

TEST_CASE("PIPE_DUMP makes its folder, or says that it cannot", "[error][environment]") {
    const auto folder = std::filesystem::temp_directory_path() / "pipe_dump_test" / "new";
    std::filesystem::remove_all(folder.parent_path());
    Func f("f");
    f(x) = x;
    setenv("PIPE_DUMP", folder.c_str(), 1);
    f.realize({4});
    CHECK(!std::filesystem::is_empty(folder));
    std::filesystem::remove_all(folder.parent_path());
    Func g("g");
    g(x) = x + 1;
    setenv("PIPE_DUMP", "/proc/nowhere", 1);
    require_message<RuntimeError>([&] { g.realize({4}); },
                                  {"PIPE_DUMP", "/proc/nowhere", "cannot be created"});
    unsetenv("PIPE_DUMP");
}
