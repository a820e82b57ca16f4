// in() and clone_in(): who reads what, the loops that wrappers get, and the values.
#include <regex>

#include <catch2/catch_test_macros.hpp>

#include <pipe/pipe.h>

#include "graph/schedule_source.h"
#include "language/freeze.h"
#include "test/support/require_message.h"

using namespace Pipe;

namespace {

std::string text(const std::vector<Func> &outputs) {
    return graph::to_string(language::freeze(outputs).graph);
}
bool contains(const std::string &text, const std::string &part) {
    return text.find(part) != std::string::npos;
}

/// The same values by the schedule and by the definitions, at several sizes.
void require_right(Func out) {
    for (int w : {1, 7, 16, 33})
        for (int min : {0, -5}) {
            Buffer<int> fast(w, 9), slow(w, 9);
            fast.set_min({min, 2 * min}), slow.set_min({min, 2 * min});
            out.realize(fast);
            out.realize_reference(Realization(slow));
            fast.for_each_element([&](int x, int y) { REQUIRE(fast(x, y) == slow(x, y)); });
        }
}

struct Diamond {
    Var x{"x"}, y{"y"}, xo{"xo"}, xi{"xi"};
    Func f{"f"}, g{"g"}, h{"h"}, out{"out"};
    Diamond() {
        f(x, y) = x * 7 + y * y;
        g(x, y) = f(x, y) + f(x + 1, y);
        h(x, y) = f(x, y - 1) * 3;
        out(x, y) = g(x, y) + h(x, y + 2) + f(y, x);
    }
};

}  // namespace

TEST_CASE_METHOD(Diamond, "in() of one consumer, of several, of all", "[wrap]") {
    SECTION("one") {
        Func w = f.in(g);
        std::string t = text({out});
        CHECK(contains(t, "g(x, y) = f_in_g(x, y) + f_in_g(x + 1, y)"));
        CHECK(contains(t, "h(x, y) = f(x, y - 1) * 3"));
        CHECK(contains(t, "f_in_g(x, y) = f(x, y)"));
        CHECK(f.in(g).name() == w.name());
        f.compute_root();
        w.compute_at(g, y).vectorize(x, 4);
        g.compute_root();
    }
    SECTION("several") {
        f.in({g, h}).compute_root().vectorize(x, 8);
        std::string t = text({out});
        CHECK(contains(t, "g(x, y) = f_in_g_h(x, y)"));
        CHECK(contains(t, "h(x, y) = f_in_g_h(x, y - 1) * 3"));
        CHECK(contains(t, " + f(y, x)"));
        f.compute_root();
    }
    SECTION("all, but those with one of their own") {
        f.in().compute_root();
        f.in(h).compute_at(out, y);
        f.compute_root();
        std::string t = text({out});
        CHECK(contains(t, "g(x, y) = f_in(x, y)"));
        CHECK(contains(t, "h(x, y) = f_in_h(x, y - 1) * 3"));
        CHECK(contains(t, " + f_in(y, x)"));
        CHECK(contains(t, "f_in_h(x, y) = f(x, y)"));
        CHECK(contains(t, "f_in(x, y) = f(x, y)"));
    }
    SECTION("chains") {
        f.in(g).compute_root();
        f.in(g).in(g).compute_at(g, y);
        g.compute_root();
        std::string t = text({out});
        CHECK(contains(t, "g(x, y) = f_in_g_in_g(x, y)"));
        CHECK(contains(t, "f_in_g_in_g(x, y) = f_in_g(x, y)"));
        CHECK(contains(t, "f_in_g(x, y) = f(x, y)"));
    }
    SECTION("of a wrapper by name") {
        Func w = f.in(g);
        f.in(w).compute_root();
        w.compute_root();
        CHECK(contains(text({out}), "f_in_g(x, y) = f_in_f_in_g(x, y)"));
    }
    require_right(out);
}

TEST_CASE_METHOD(Diamond, "clone_in()", "[wrap]") {
    RDom r(0, 4, "r");
    Func s("s"), t("t"), both("both");
    s(x, y) = x;
    s(x, y) += y * r;
    t(x, y) = s(x, y) * 2;
    both(x, y) = t(x, y) - s(x, y + 1);
    s.compute_root();
    Func clone = s.clone_in(t);
    clone.compute_at(both, y).update().vectorize(x, 4);
    std::string graph = text({both});
    CHECK(contains(graph, "t(x, y) = s_clone_in_t(x, y) * 2"));
    CHECK(contains(graph, "s_clone_in_t(x, y) = s_clone_in_t(x, y) + y * r$x"));
    CHECK(contains(graph, " - s(x, y + 1)"));
    require_right(both);
    require_message<CompileError>([&] { s(x, y) += 1; }, {"'s'", "clone_in()", "wrap.cpp:"});
    require_message<CompileError>([&] { s.in(t); }, {"s.in(t)", "already reads", "clone_in(t)"});
}

TEST_CASE("wrappers of an ImageParam", "[wrap]") {
    Var x("x"), y("y");
    for (int form : {0, 1, 2}) {
        ImageParam in(Int(32), 2, "in");
        Func g("g"), h("h"), out("out");
        g(x, y) = in(x, y) + in(x + 1, y);
        h(x, y) = in(y, x);
        out(x, y) = g(x, y) * h(x, y);
        g.compute_root();
        Func w = form == 0 ? in.in(g) : form == 1 ? in.in() : in.in({g, h});
        w.compute_root().vectorize(_0, 4);
        if (form == 0)
            in.in(g).in(g).compute_at(g, y);
        std::string t = text({out});
        CHECK(contains(t, "(_0, _1) = in(_0, _1)"));
        CHECK(contains(t, "h(x, y) = in(y, x)") == (form == 0));
        Buffer<int> image(40, 40);
        image.fill([](int x, int y) { return x * 100 + y; });
        in.set(image);
        for (int size : {1, 5, 32}) {
            Buffer<int> result = out.realize({size, size});
            result.for_each_element([&](int x, int y) {
                REQUIRE(result(x, y) == (200 * x + 100 + 2 * y) * (y * 100 + x));
            });
        }
    }
}

TEST_CASE("wrappers of Tuples and of Funcs whose handles are gone", "[wrap]") {
    Var x("x"), y("y");
    Func out("out");
    {
        Func f("f"), g("g");
        f(x, y) = Tuple(x + y, x * y);
        g(x, y) = f(x, y)[0] - f(x + 1, y)[1];
        out(x, y) = g(x, y);
        f.in(g).compute_at(out, y);
        g.compute_root();
        f.in(g).compute_at(g, y);
        f.compute_root();
    }
    require_right(out);
    Func alone;
    {
        Func f("f");
        f(x, y) = x - 2 * y;
        f.compute_root();
        alone = f.in();
    }
    require_right(alone);
}

TEST_CASE_METHOD(Diamond, "a wrapper made later is seen by what was compiled", "[wrap]") {
    out.realize({4, 4});
    f.in(g).compute_root();
    CHECK(contains(Pipeline(out).loop_nest(), "f_in_g"));
    require_right(out);
}

TEST_CASE_METHOD(Diamond, "wrappers as C++", "[wrap][schedule_source]") {
    f.in(g).in(g).compute_at(g, y);
    f.in(g).compute_root();
    f.clone_in(h).compute_root();
    g.compute_root();
    language::Frozen frozen = language::freeze({out});
    std::string t = graph::schedule_source(frozen.graph, frozen.schedule);
    size_t first = t.find("Func f_in_g = f.in(g);\n"),
           second = t.find("Func f_in_g_in_g = f_in_g.in(g);\n");
    REQUIRE(first != std::string::npos);
    REQUIRE(second != std::string::npos);
    CHECK(first < second);
    CHECK(contains(t, "Func f_clone_in_h = f.clone_in(h);\n"));
    CHECK(contains(t, "f_in_g_in_g\n    .compute_at(g, g_y);\n"));
    // The text that it prints, run on new Funcs, makes the same graph.
    Diamond second_time;
    Func f_in_g = second_time.f.in(second_time.g);
    Func f_in_g_in_g = f_in_g.in(second_time.g);
    Func f_clone_in_h = second_time.f.clone_in(second_time.h);
    // Both sets of Funcs exist, so the second has names with "$1".
    CHECK(std::regex_replace(text({second_time.out}), std::regex("\\$1"), "") == text({out}));
}

TEST_CASE_METHOD(Diamond, "wrappers that nobody would read", "[wrap][error]") {
    SECTION("the consumer does not call it") {
        Func k("k");
        k(x, y) = g(x, y);
        out(x, y) += k(x, y);
        f.in(k);
        require_message<CompileError>([&] { text({out}); },
                                      {"f.in(k)", "wrap.cpp:", "'k'", "does not call 'f' itself"});
    }
    SECTION("the wrapper is read by another") {
        f.in(g).in(h);
        require_message<CompileError>([&] { text({out}); },
                                      {"f_in_g.in(h)", "'h'", "does not call 'f_in_g' itself"});
    }
    SECTION("itself") {
        require_message<CompileError>([&] { f.in(f); }, {"f.in(f)", "wrapper of itself"});
    }
    SECTION("other consumers") {
        f.in(g);
        require_message<CompileError>(
            [&] {
                f.in({g, h});
            },
            {"f.in(g, h)", "already reads", "'f_in_g'", "wrap.cpp:"});
        require_message<CompileError>([&] { f.in(g)(x, y) = 3; }, {"f_in_g", "wrapper", "in()"});
    }
    SECTION("undefined") {
        require_message<CompileError>([&] { Func("u").in(g); }, {"u.in(g)", "define the Func"});
        require_message<CompileError>([&] { f.in(std::vector<Func>()); }, {"f.in()", "empty"});
    }
}

// As Halide names them, for those who write wrappers' schedules for both.
TEST_CASE("a Func of an image has the dimensions _0, _1, ..", "[wrap]") {
    Var x("x"), y("y");
    ImageParam in(Int(32), 2, "in");
    Buffer<int> image(40, 40);
    image.fill([](int i, int j) { return i * 41 + j; });
    in.set(image);
    Func g("g");
    SECTION("in()") {
        g(x, y) = in(y, x);
        in.in(g).compute_root().vectorize(_0, 8).unroll(_1, 2);
    }
    SECTION("a conversion") {
        Func c = in;
        g(x, y) = c(y, x);
        c.compute_root().reorder(_1, _0);
    }
    SECTION("a boundary condition of an ImageParam, and one of a Buffer") {
        Func c = BoundaryConditions::repeat_edge(in), d = BoundaryConditions::mirror_image(image);
        g(x, y) = c(y, x) + d(x, y) - c(x, y);
        c.compute_root().vectorize(_0, 8), d.compute_root().parallel(_1);
    }
    Buffer<int> got = g.realize({30, 40});
    got.for_each_element([&](int i, int j) { REQUIRE(got(i, j) == image(j, i)); });
}
