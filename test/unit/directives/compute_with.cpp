// compute_with: stages of other sizes and nests in one loop, and why some cannot be.
#include <catch2/generators/catch_generators.hpp>

#include "compare.h"
#include "ir/print.h"
#include "language/freeze.h"
#include "lower/lower.h"
#include "support/require_message.h"

using namespace Pipe;
using namespace Pipe::testing;

namespace {

Var x("x"), y("y"), xo("xo"), xi("xi"), yo("yo"), yi("yi");

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
    SECTION("no loop") {
        b.compute_with(a, Var::outermost());
    }
    SECTION("no loop, by a LoopLevel") {
        b.compute_with(LoopLevel(a, Var::outermost()));
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
    require_message<CompileError>(
        [&] {
            b.compute_with(a, y, {{x, LoopAlignStrategy::AlignEnd}});
        },
        {"b.compute_with(a, y)", "'x' is inside 'y'", "not shared"});
    require_message<CompileError>(
        [&] {
            b.compute_with(a, y, {{Var("z"), LoopAlignStrategy::AlignEnd}});
        },
        {"b.compute_with(a, y)", "no loop 'z'"});
    require_message<CompileError>([&] { b.compute_with(LoopLevel::root()); },
                                  {"b.compute_with(root)", "names no loop"});
}

// The compute level of the parent was looked up in the loops of its child, which had none yet.
TEST_CASE("a parent without a level of its own that its child reads", "[compute_with]") {
    Func parent("parent"), child("child"), out("out");
    RDom r(0, 3, "r");
    parent(x, y) = x + 2 * y;
    parent(x, y) += r;
    child(x, y) = parent(x, y) + 1;
    out(x, y) = child(x, y);
    child.compute_root();
    SECTION("the pure definition") {
        child.compute_with(parent, x);
    }
    SECTION("the update") {
        child.compute_with(parent.update(), x);
    }
    require_message<CompileError>(
        [&] {
            out.realize({4, 4});
        },
        {"child.compute_with(parent, x)", "'child' at compute_with.cpp:", "reads 'parent'",
         "before the other begins"});
}

// The parent is computed with its child, before a Func that reads the parent.
TEST_CASE("a parent that a Func computed between it and its child reads", "[compute_with]") {
    Func parent("parent"), between("between"), child("child"), out("out");
    parent(x, y) = x + 2 * y;
    between(x, y) = parent(x, y) + parent(x + 1, y);
    child(x, y) = x * y;
    out(x, y) = between(x, y) + child(x, y);
    parent.compute_at(out, y);
    between.compute_at(out, y);
    child.compute_at(out, y).compute_with(parent, y);
    check_sizes(out, {1, 4, 17});
}

// Each pair that shares loops is independent, but the order of the groups goes in a ring.
TEST_CASE("groups that need each other", "[compute_with]") {
    Func first("first"), second("second"), third("third"), fourth("fourth"), out("out");
    first(x, y) = x + y;
    third(x, y) = x - y;
    second(x, y) = first(x, y) + 1;
    fourth(x, y) = third(x, y) * 2;
    out(x, y) = second(x, y) + fourth(x, y);
    for (Func f : {first, second, third, fourth})
        f.compute_root();
    SECTION("two pairs") {
        first.compute_with(fourth, y);
        third.compute_with(second, y);
        require_message<CompileError>(
            [&] {
                out.realize({4, 4});
            },
            {"compute_with",
             "reads 'third', which shares loops with 'second', which reads 'first'"});
    }
    SECTION("two children of one parent") {
        Func parent("parent");
        parent(x, y) = x * y;
        out(x, y) += parent(x, y);
        parent.compute_root();
        first.compute_with(parent, y);
        second.compute_with(parent, y);
        require_message<CompileError>(
            [&] {
                out.realize({4, 4});
            },
            {"compute_with(parent, y)", "'second'", "reads 'first'"});
    }
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

TEST_CASE_METHOD(Pair, "ranges that are moved", "[compute_with]") {
    using Align = LoopAlignStrategy;
    Align align = GENERATE(Align::AlignStart, Align::AlignEnd, Align::NoAlign);
    SECTION("rows") {
        b.compute_with(a, y, align);
        bool said = Pipeline(out).schedule_source().find("LoopAlignments") != std::string::npos;
        CHECK(said == (align != Align::NoAlign));
    }
    SECTION("elements, one dimension otherwise") {
        b.compute_with(a, x, {{x, align}, {y, Align::AlignEnd}});
    }
    SECTION("elements, by a LoopLevel") {
        b.compute_with(LoopLevel(a, x), {{y, align}, {x, Align::AlignStart}});
    }
    SECTION("vectors") {
        for (Func f : {a, b})
            f.split(x, xo, xi, 4, TailStrategy::RoundUp).vectorize(xi);
        b.compute_with(a, xo, {{xo, align}, {y, Align::AlignStart}});
    }
    SECTION("blocks that end early, in parallel") {
        for (Func f : {a, b})
            f.split(y, yo, yi, 3, TailStrategy::GuardWithIf).parallel(yo);
        b.compute_with(a, yi, {{yo, Align::AlignEnd}, {yi, align}});
    }
    SECTION("blocks of one, rows of the other") {
        a.split(y, yo, yi, 2, TailStrategy::RoundUp);
        b.rename(y, yo);
        b.compute_with(a, yo, align);
    }
    SECTION("what is computed inside") {
        Func in("in"), in2("in2");
        in(x, y) = x - y;
        in2(x, y) = x * 2 - y;
        Func c("c");
        c(x, y) = in(x, y) + in(x, y + 1) + in2(x - 1, y);
        out(x, y) += c(x, y + 7) + c(x + 2, y);
        c.compute_root().compute_with(a, y, align);
        in.compute_at(c, y).store_root();
        in2.compute_at(c, y);
    }
    SECTION("chains") {
        Func c("c");
        c(x, y) = x - y;
        out(x, y) += c(x - 4, y - 9) + c(x, y);
        b.compute_with(a, y, align);
        c.compute_root().compute_with(b, x, {{y, Align::AlignEnd}, {x, align}});
    }
    SECTION("a chain in which the last only follows") {
        Func c("c");
        c(x, y) = x - y;
        out(x, y) += c(x - 4, y - 9) + c(x, y);
        b.compute_with(a, y, align);
        c.compute_root().compute_with(b, y);
    }
    SECTION("updates") {
        RDom r(0, 5);
        a(x, y) += r * x;
        b(x, y) += 3;
        b(x, y) += r * y;
        b.update(1).reorder(r, x, y);
        b.update(1).compute_with(a.update(), y, align);
        a.update().reorder(r, x, y);
    }
    check_sizes(out, {1, 4, 17});
}

TEST_CASE_METHOD(Pair, "ranges that are moved need fewer iterations", "[compute_with]") {
    b.compute_with(a, y, LoopAlignStrategy::AlignEnd);
    CHECK(Pipeline(out).loop_nest().find("produce a, b (y aligned at its end):") !=
          std::string::npos);
    CHECK(Pipeline(out).schedule_source().find(
              "compute_with(a, a_y, LoopAlignments{{b_y, LoopAlignStrategy::AlignEnd}})") !=
          std::string::npos);
    language::Frozen frozen = language::freeze({out});
    graph::Graph inlined = graph::inline_funcs(frozen.graph, frozen.schedule);
    lower::LowerOptions options;
    options.stop_after = "build";
    auto text =
        ir::to_string(lower::lower(inlined, frozen.schedule, get_host_target(), options).body);
    // a has h rows, b has h + 7, and they end together: no hull of both.
    INFO(text);
    CHECK(text.find("for a.s0.y in [out.min.1 - 7, out.min.1 - 7 + (out.extent.1 + 7)) {") !=
          std::string::npos);
    CHECK(text.find("let b.s0.y = a.s0.y + 5") != std::string::npos);
}

// It ran out of the stack.
TEST_CASE_METHOD(Pair, "a ring of shared loops", "[compute_with]") {
    Func c("c");
    SECTION("two") {
        a.compute_with(b, y);
        b.compute_with(a, y);
    }
    SECTION("three") {
        c(x, y) = x;
        c.compute_root();
        out(x, y) += c(x, y);
        a.compute_with(b, y);
        b.compute_with(c, y);
        c.compute_with(a, y);
    }
    SECTION("through earlier definitions") {
        b(x, y) += 1;
        a.compute_with(b.update(), y);
        b.compute_with(a, y);
    }
    require_message<CompileError>(
        [&] {
            out.realize({4, 4});
        },
        {"compute_with(", "neither has loops of its own", "Leave one"});
}

TEST_CASE_METHOD(Pair, "two Funcs each of which shares loops of the other", "[compute_with]") {
    a(x, y) += 3;
    b(x, y) += 5;
    b.compute_with(a, y);
    a.update().compute_with(b.update(), y);
    check_sizes(out, {1, 4, 17});
}

// What the update added was lost where the pure definition came later, or a second time.
TEST_CASE_METHOD(Pair, "two definitions of a Func in the same loops", "[compute_with]") {
    using Align = LoopAlignStrategy;
    Func c("c");
    c(x, y) = x - y;
    c(x, y) += 7;
    c.compute_root();
    out(x, y) += c(x, y / 2);
    std::string why;
    SECTION("row by row") {
        c.compute_with(a, y);
        c.update().compute_with(a, y);
    }
    SECTION("the second one further out") {
        c.compute_with(a, x);
        c.update().compute_with(a, y);
    }
    SECTION("nested deeper") {
        c.compute_with(a, y);
        c.update().compute_with(a, x);
        why = "nested deeper";
    }
    SECTION("moved") {
        Align align = GENERATE(Align::AlignStart, Align::AlignEnd);
        b.compute_with(a, y);
        c.compute_with(b, y, align);
        c.update().compute_with(a, y, align);
        why = "shifted (LoopAlignStrategy)";
    }
    SECTION("the parent moved") {
        b.compute_with(a, y, Align::AlignEnd);
        c.compute_with(b, y);
        c.update().compute_with(a, y);
        why = "shifted (LoopAlignStrategy)";
    }
    SECTION("turned round") {
        c.compute_with(a, y);
        c.update().reorder(y, x).compute_with(a, y);
        why = "has the loop 'x' in place of 'y'";
    }
    SECTION("split") {
        for (Stage s : {Stage(a), Stage(c), c.update()})
            s.split(y, yo, yi, 4);
        c.compute_with(a, yo);
        c.update().compute_with(a, yo);
        why = "'yo' result from split()";
    }
    if (why.empty())
        check_sizes(out, {1, 4, 17});
    else
        require_message<CompileError>(
            [&] {
                out.realize({4, 4});
            },
            {"c.update(0).compute_with(a, ", "the pure definition of 'c'", why, "Let only one"});
}
