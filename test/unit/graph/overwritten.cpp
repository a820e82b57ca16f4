#include "graph/overwritten.h"

#include <catch2/catch_test_macros.hpp>

#include <pipe/pipe.h>

#include "ir/print.h"
#include "ir/simplify.h"
#include "language/freeze.h"

using namespace Pipe;

namespace {

Var x("x"), y("y");

/// "dimension: min .. max", or "".
std::string range(const Func &f) {
    const language::Frozen frozen = language::freeze({f});
    const auto found = graph::overwritten(frozen.graph[frozen.graph.outputs[0]]);
    if (!found)
        return "";
    return std::to_string(found->dim) + ": " + ir::to_string(ir::simplify(found->min)) + " .. " +
           ir::to_string(ir::simplify(found->max));
}

Func made(const std::function<void(Func &)> &update) {
    Func f("f");
    f(x, y) = x + y;
    update(f);
    return f;
}

}  // namespace

TEST_CASE("the range of the RVar is stored over", "[overwritten]") {
    const RDom r(2, 10, "r");
    CHECK(range(made([&](Func &f) { f(x, r) = x * r; })) == "1: 2 .. 11");
    CHECK(range(made([&](Func &f) { f(r + 3, y) = f(r + 2, y) + f(r - 5, y); })) == "0: 5 .. 14");
    CHECK(range(made([&](Func &f) { f(20 - r, y) = f(21 - r, y); })) == "0: 9 .. 18");
}

TEST_CASE("what is read, or may be left, is not stored over", "[overwritten]") {
    const RDom r(2, 10, "r"), two(2, 10, 0, 3, "two");
    RDom even(2, 10, "even");
    even.where(even % 2 == 0);
    ImageParam in(Int(32), 1, "in");
    CHECK(range(made([](Func &) {})) == "");
    CHECK(range(made([&](Func &f) { f(x, r) += 1; })) == "");
    CHECK(range(made([&](Func &f) { f(x, r) = f(x, r + 1); })) == "");
    CHECK(range(made([&](Func &f) { f(20 - r, y) = f(19 - r, y); })) == "");
    CHECK(range(made([&](Func &f) { f(x, r) = f(x, in(r)); })) == "");
    CHECK(range(made([&](Func &f) { f(x, in(r)) = 1; })) == "");
    CHECK(range(made([&](Func &f) { f(x, r * 2) = 1; })) == "");
    CHECK(range(made([&](Func &f) { f(x, even) = 1; })) == "");
    CHECK(range(made([&](Func &f) { f(two.x, two.y) = 1; })) == "");
    CHECK(range(made([&](Func &f) { f(x, y) = f(x, y) + 1; })) == "");
}

TEST_CASE("a pure definition that reads a Func has all of its loops", "[overwritten]") {
    const RDom r(2, 10, "r");
    Func f("f"), g("g");
    g(x, y) = x;
    g.compute_root();
    f(x, y) = g(x, y);
    f(x, r) = 1;
    CHECK(range(f) == "");
}
