// Sums of sums with several parents do not grow: e = e + e % 7, many times.

#include <functional>
#include <unordered_set>

#include <catch2/catch_test_macros.hpp>
#include <pipe/pipe.h>

#include "ir/simplify.h"
#include "ir/visit.h"

using namespace Pipe;

namespace {

size_t distinct_nodes(const Expr &e) {
    size_t count = 0;
    ir::each_node(e, [&](const ir::ExprNode &) {
        count++;
        return true;
    });
    return count;
}

}  // namespace

TEST_CASE("simplify keeps what sums share", "[simplify]") {
    const std::function<Expr(const Expr &, int)> steps[] = {
        [](const Expr &e, int) { return e + e % 7; },
        [](const Expr &e, int i) { return (e + i) / 2 + e; },
        [](const Expr &e, int) { return e * 3 - e % 7; },
        [](const Expr &e, int i) { return abs(e - i) + e; },
    };
    constexpr int length = 200;
    for (const auto &step : steps) {
        Expr e = Var("x");
        for (int i = 1; i < length; i++)
            e = step(e, i);
        const size_t before = distinct_nodes(e);
        CHECK(before < 6 * length);
        // Up to some depth, sums are expanded: there the quadratic form of few terms.
        CHECK(distinct_nodes(ir::simplify(e)) < 20 * before);
    }
}
