// Expressions in which each step uses the one before twice or more: as trees they have billions of nodes, as
// graphs a few hundred. Wherever they stand - as values, indices, conditions, bounds of an RDom, in where() - they
// compile in a time that has nothing to do with the former, and give what the reference evaluator says.

#include <pipe/pipe.h>

#include <ctime>
#include <functional>
#include <string>
#include <vector>

#include <catch2/catch_message.hpp>
#include <catch2/catch_test_macros.hpp>

#include "fuzz/choices.h"
#include "fuzz/seeds.h"

using namespace Pipe;
using namespace Pipe::fuzz;

namespace {

constexpr int width = 40, height = 4;

/// A random chain of steps; every second value lies within a few thousands, so that nothing overflows.
class Chain {
  public:
    explicit Chain(Choices &c) : c_(c), first_kind_(c.below(kinds)), mixed_(c.chance(50)) {}

    Expr operator()(Expr e, const Expr &p, const Expr &q) {
        const int steps = c_.between(20, 80);
        for (int i = 0; i < steps; i++)
            e = step(mixed_ ? c_.below(kinds) : first_kind_, e, p, q, i);
        return e;
    }

  private:
    static constexpr int kinds = 12;

    static Expr step(int kind, const Expr &e, const Expr &p, const Expr &q, int i) {
        switch (kind) {
        case 0:
            return select(p > i, e, e + 1);
        case 1:
            return select(e > i, e - i, e + q);
        case 2:
            return max(e, q) - min(e - i, p) % 50;
        case 3:
            return (e * 3 + e) % (1000 + i);
        case 4:
            return (e % 1000) * (e % 1000) / 1000 + i;
        case 5:
            return (e & 255) + (e >> 1) + i;
        case 6:
            return e / 2 + e % 7 + p;
        case 7:
            return cast<int>(cast<uint8_t>(e)) + min(e, i);
        case 8:
            return cast<int>(abs(e)) / 2 - e / 3 + i;
        case 9:
            return clamp(e, i, 100 + i) + e / 2;
        case 10:
            return select(e > 3 && e < 50 + i, e, select(e == i, p, e - 1));
        default:
            return cast<int>(saturating_add(cast<int16_t>(clamp(e, -9999, 9999)),
                                            cast<int16_t>(clamp(e / 2, -9999, 9999)))) /
                   2;
        }
    }

    Choices &c_;
    const int first_kind_;
    const bool mixed_;
};

/// A pipeline that has a chain somewhere.
Func random_pipeline(Choices &c, const Buffer<int> &table, const Buffer<int> &in,
                     std::string &place) {
    Var x("x"), y("y");
    Func f("f"), g("g");
    Chain chain(c);
    const Expr pixel = in(clamp(x, 0, width - 1), clamp(y, 0, height - 1));
    auto index = [&](const Expr &e) { return clamp(e, 0, 99); };
    RDom ten(0, 10);
    switch (c.below(10)) {
    case 0:
        place = "value", f(x, y) = chain(pixel, x, y);
        break;
    case 1:
        place = "index of an input", f(x, y) = table(index(chain(x + y, x, y)));
        break;
    case 2:
        place = "index that depends on data", f(x, y) = table(index(chain(pixel, x, y)));
        break;
    case 3:
        place = "index of a Func", g(x) = table(index(x)) + x;
        f(x, y) = g(index(chain(x + y, x, y)));
        c.chance(50) ? g.compute_root() : g.compute_at(f, y);
        break;
    case 4:
        place = "Func that is an index", g(x, y) = index(chain(x + y, x, y));
        f(x, y) = table(g(x, y));
        if (c.chance(50))
            g.compute_root();
        break;
    case 5:
        place = "condition";
        f(x, y) = select(chain(x + y, x, y) > 10, pixel, in(clamp(x - 1, 0, width - 1), 0));
        break;
    case 6:
        place = "condition in an index";
        f(x, y) = table(select(chain(x + y, x, y) > 10, index(x), index(y)));
        break;
    case 7: {
        place = "bounds of an RDom";
        Param<int> p("p"), q("q");
        p.set(3), q.set(5);
        RDom r(clamp(chain(p + 1, p, q), 0, 9), clamp(chain(p, p, q), 1, 20));
        f(x, y) = 0, f(x, y) += table(index(r)) * x;
        break;
    }
    case 8:
        place = "where()", ten.where(chain(ten + x, x, ten) > 5);
        f(x, y) = 0, f(x, y) += table(index(ten * x));
        break;
    default:
        place = "place of an update";
        f(x, y) = 0, f(clamp(chain(ten + y, ten, y), 0, 7), y) += 1;
        return f;
    }
    if (c.chance(40))
        c.chance(50) ? f.vectorize(x, 8) : f.unroll(x, 4);
    return f;
}

}  // namespace

TEST_CASE("random expressions that share what they are made of", "[fuzz]") {
    Buffer<int> table(100), in(width, height);
    table.fill([](int i) { return i * 7; });
    in.fill([](int i, int j) { return i * 3 + j; });
    for (uint64_t seed : every_nth_seed(4)) {
        Choices c(seed);
        std::string place;
        Func f = random_pipeline(c, table, in, place);
        INFO("seed " << seed << ", " << place);
        Pipeline pipeline(f);
        Buffer<int> got(width, height), expected(width, height);
        const std::clock_t start =
            std::clock();  // of the processor: what else it does is no matter
        pipeline.realize(got);
        const double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
        pipeline.realize_reference(expected);
        int64_t wrong = 0;
        got.for_each_value([&](int &a, int &b) { wrong += a != b; }, expected);
        CHECK(wrong == 0);
        CHECK(seconds < 60);  // most of them to spare: without sharing it would not end
    }
}
