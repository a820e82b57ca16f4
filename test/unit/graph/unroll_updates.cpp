// unroll_updates(): updates as part of the pure definition.
#include <catch2/catch_test_macros.hpp>

#include <pipe/pipe.h>

#include "ir/print.h"
#include "language/freeze.h"
#include "test/support/require_message.h"

using namespace Pipe;

namespace {

const Var x("x"), y("y");

graph::FuncNode frozen(const Func &f) {
    const language::Frozen result = language::freeze({f});
    graph::verify(result.graph);
    return result.graph[result.graph.outputs[0]];
}

void require_refused(const Func &f, const std::string &why) {
    require_message<CompileError>([&] { language::freeze({f}); },
                                  {"f.unroll_updates", "unroll_updates.cpp:", why});
}

}  // namespace

TEST_CASE("the iterations follow each other in one expression", "[unroll_updates]") {
    ImageParam in(Float(32), 2, "in");
    const RDom r(-1, 2, 3, 2, "r");
    Func f("f");
    f(x) = 0.5f;
    f(x) += in(x + r.x, r.y);
    f(x) = f(x) * f(x);
    f.unroll_updates();
    const graph::FuncNode node = frozen(f);
    REQUIRE(node.stages.size() == 1);
    const std::string sum = "0.5f + in(x - 1, 3) + in(x, 3) + in(x - 1, 4) + in(x, 4)";
    CHECK(ir::to_string(node.stages[0].values[0]) == "(" + sum + ") * (" + sum + ")");
}

TEST_CASE("values of a Tuple change together, and where() leaves iterations out",
          "[unroll_updates]") {
    ImageParam in(Int(32), 1, "in");
    RDom r(0, 4, "r");
    r.where(r % 2 == 1);
    Func f("f");
    f(x) = {0, 1};
    f(x) = {f(x)[1], f(x)[0] + in(x + r)};
    f.unroll_updates();
    const graph::FuncNode node = frozen(f);
    REQUIRE(node.stages.size() == 1);
    CHECK(ir::to_string(node.stages[0].values[0]) == "0 + in(x + 1)");
    CHECK(ir::to_string(node.stages[0].values[1]) == "1 + in(x + 3)");
}

TEST_CASE("results are the same, inlined, stored and in windows", "[unroll_updates]") {
    Buffer<float> in(80, 60);
    for (int j = 0; j < in.height(); j++)
        for (int i = 0; i < in.width(); i++)
            in(i, j) = 1.0f / float(1 + (i * 7 + j * 13) % 101);
    auto blur = [&](int schedule) {
        const RDom r(0, 5, "r");
        Func across("across"), down("down"), out("out");
        across(x, y) = 0.0f;
        across(x, y) += in(x + r, y) * (r + 1);
        down(x, y) = 0.0f;
        down(x, y) += across(x, y + r);
        out(x, y) = down(x, y) / 75;
        if (schedule > 0) {
            across.unroll_updates();
            down.unroll_updates();
            out.vectorize(x, 8, TailStrategy::GuardWithIf);
        }
        if (schedule == 2)
            across.compute_root().vectorize(x, 8);
        if (schedule == 3)
            across.store_root().compute_at(out, y).vectorize(x, 8);
        return Buffer<float>(out.realize({70, 50}));
    };
    const Buffer<float> expected = blur(0);
    for (int schedule : {1, 2, 3}) {
        const Buffer<float> result = blur(schedule);
        for (int j = 0; j < 50; j++)
            for (int i = 0; i < 70; i++)
                REQUIRE(result(i, j) == expected(i, j));
    }
}

TEST_CASE("a Func is computed in the loops that are left", "[unroll_updates]") {
    Func g("g"), f("f");
    g(x) = x * x;
    g.compute_at(f, x);
    f(x) = 0;
    f(x) += g(x + RDom(0, 3));
    f.unroll_updates();
    const Buffer<int> result = f.realize({4});
    for (int i = 0; i < 4; i++)
        CHECK(result(i) == i * i + (i + 1) * (i + 1) + (i + 2) * (i + 2));
}

TEST_CASE("what cannot be unrolled is refused", "[unroll_updates][error]") {
    Param<int> n("n");
    ImageParam in(Int(32), 1, "in");
    Func f("f");
    f(x) = 0;
    f.unroll_updates();
    SECTION("no update") {
        require_refused(f, "it has no updates");
    }
    SECTION("a scan") {
        RDom r(1, 7, "r");
        f(r) += f(r - 1);
        require_refused(f, "stores other elements");
    }
    SECTION("a range that is no constant") {
        f(x) += in(x + RDom(0, n, "r"));
        require_refused(f, "range of r");
    }
    SECTION("too long") {
        f(x) += in(x + RDom(0, 257, "r"));
        require_refused(f, "more than 256 iterations");
    }
    SECTION("too long together") {
        f(x) += in(x + RDom(0, 200, "r"));
        f(x) += in(x - RDom(0, 57, "s"));
        require_refused(f, "more than 256 iterations");
    }
    SECTION("a condition on data") {
        RDom r(0, 3, "r");
        r.where(in(r) > 0);
        f(x) += r;
        require_refused(f, "where()");
    }
    SECTION("directives on the update") {
        RDom r(0, 3, "r");
        f(x) += in(x + r);
        f.update().unroll(r);
        require_message<CompileError>([&] { language::freeze({f}); },
                                      {"f.update(0).unroll_updates", "this update has directives"});
    }
}
