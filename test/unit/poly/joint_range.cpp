// Ranges of indices over variables that range together, against counting.

#include <algorithm>
#include <random>

#include <catch2/catch_test_macros.hpp>

#include "ir/print.h"
#include "poly/joint_range.h"
#include "support/index.h"

using namespace Pipe;
using namespace Pipe::poly;
using namespace Pipe::ir;
using test::num, test::var;

namespace {

/// Value of an expression of u, v, n.
int64_t at(const Expr &e, int u, int v, int n) {
    return test::value_of(e, {{"u", u}, {"v", v}, {"n", n}});
}

class Random {
  public:
    explicit Random(unsigned seed) : engine_(seed) {}
    int between(int low, int high) { return std::uniform_int_distribution<>(low, high)(engine_); }
    Expr sum(bool with_n) {
        Expr e = add(mul(var("u"), num(between(-3, 3))), mul(var("v"), num(between(-3, 3))));
        e = add(e, num(between(-5, 5)));
        return with_n ? add(e, mul(var("n"), num(between(-1, 1)))) : e;
    }
    Expr index(bool with_n) {
        Expr e = sum(with_n);
        switch (between(0, 4)) {
        case 0:
            return div(e, num(between(2, 4)));
        case 1:
            return sub(e, div(sum(false), num(2)));
        case 2:
            return ir::max(e, sum(false));
        default:
            return e;
        }
    }

  private:
    std::mt19937 engine_;
};

struct Counted {
    int64_t min = INT64_MAX, max = INT64_MIN;
    bool any() const { return min <= max; }
};

Counted count(const Expr &index, const JointDomain &domain, int n) {
    Counted result;
    auto end = [&](const Expr &e) { return static_cast<int>(at(e, 0, 0, n)); };
    for (int u = end(domain.variables[0].min); u <= end(domain.variables[0].max); u++) {
        for (int v = end(domain.variables[1].min); v <= end(domain.variables[1].max); v++) {
            bool inside = std::all_of(domain.conditions.begin(), domain.conditions.end(),
                                      [&](const Expr &c) { return at(c, u, v, n) <= 0; });
            if (!inside)
                continue;
            int64_t value = at(index, u, v, n);
            result = {std::min(result.min, value), std::max(result.max, value)};
        }
    }
    return result;
}

}  // namespace

TEST_CASE("joint ranges of numbers are exact", "[poly]") {
    Random random(7);
    int answered = 0;
    for (int i = 0; i < 150; i++) {
        JointDomain domain{
            {{"u", num(-4), num(random.between(-3, 5))}, {"v", num(0), num(random.between(1, 6))}},
            {}};
        for (int c = random.between(1, 2); c > 0; c--)
            domain.conditions.push_back(random.sum(false));
        Expr index = random.index(false);
        Counted expected = count(index, domain, 0);
        if (!expected.any())
            continue;
        Range range = joint_range(index, domain);
        INFO(to_string(index));
        CHECK(range == Range{expected.min, expected.max});
        answered++;
    }
    CHECK(answered > 80);
}

TEST_CASE("joint ranges hold for every value of an unknown number", "[poly]") {
    Random random(11);
    int answered = 0;
    for (int i = 0; i < 100; i++) {
        JointDomain domain{{{"u", num(0), sub(var("n"), num(1))}, {"v", num(0), num(5)}},
                           {random.sum(true)}};
        Expr index = random.index(true);
        Range range = joint_range(index, domain);
        for (int n : {1, 2, 5, 8}) {
            Counted expected = count(index, domain, n);
            if (!expected.any())
                continue;
            INFO(to_string(index) << " where " << to_string(domain.conditions[0])
                                  << " <= 0, n = " << n);
            answered += (range.min > -Range::infinite) + (range.max < Range::infinite);
            CHECK(range.min <= expected.min);
            CHECK(range.max >= expected.max);
        }
    }
    CHECK(answered > 40);
}

TEST_CASE("what is not affine has no joint range", "[poly]") {
    JointDomain domain{{{"u", num(0), num(9)}, {"v", num(0), num(9)}}, {sub(var("u"), var("v"))}};
    Range range = joint_range(mul(var("u"), var("v")), domain);
    CHECK(range == Range());
}

TEST_CASE("an index with more choices than pieces can be counted has no joint range", "[poly]") {
    JointDomain domain;
    domain.variables = {{"u", num(0), num(9)}, {"v", num(0), num(9)}};
    Expr index = sub(var("u"), var("v"));
    for (int choices = 1; choices <= 8; ++choices) {
        index = ir::max(index, sub(var("v"), add(var("u"), num(choices))));
        const Range range = joint_range(index, domain);
        CHECK(range.bounded() == (choices <= 6));
        if (range.bounded())
            CHECK(range.max == 9);
    }
}
