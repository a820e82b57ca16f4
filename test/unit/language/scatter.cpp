// scatter() and gather(): several stores at once.
#include <numeric>

#include "support/everywhere.h"
#include "support/require_message.h"

using namespace Pipe;

namespace {

/// The same from the compiled code and from the reference.
void check_values(Func f, const std::vector<int> &expected) {
    Buffer<int> out(static_cast<int>(expected.size())), again(static_cast<int>(expected.size()));
    f.realize(out);
    f.realize_reference(Realization(again));
    for (int i = 0; i < out.width(); i++) {
        INFO("at " << i);
        CHECK(out(i) == expected[static_cast<size_t>(i)]);
        CHECK(again(i) == expected[static_cast<size_t>(i)]);
    }
}

}  // namespace

TEST_CASE("stores of several values", "[scatter]") {
    Var x("x");
    Func f("f");
    f(x) = x;
    f(scatter(3, 5, 1)) = gather(30, 50, 10);
    check_values(f, {0, 10, 2, 30, 4, 50, 6});
}

TEST_CASE("a swap reads all before it stores", "[scatter]") {
    Var x("x");
    Func f("f");
    f(x) = x * x;
    f(scatter(2, 6)) = f(gather(6, 2));
    check_values(f, {0, 1, 36, 9, 16, 25, 4, 49});
}

TEST_CASE("the rightmost of two stores to one place wins", "[scatter]") {
    Var x("x");
    Func f("f");
    f(x) = x;
    f(scatter(1, 1)) = gather(3, 5);
    check_values(f, {0, 5, 2});
}

TEST_CASE("expressions distribute over scatter and gather", "[scatter]") {
    Var x("x");
    Param<int> p("p");
    Func f("f");
    f(x) = 100 + x;
    f(2 + scatter(0, 3)) = 2 * gather(7, 8) + f(gather(0, 1));
    check_values(f, {100, 101, 114, 103, 104, 117});
}

TEST_CASE("a rotation chosen by a parameter", "[scatter]") {
    Var x("x");
    for (bool swap : {true, false}) {
        Param<bool> p("p");
        p.set(swap);
        Func f("f");
        f(x) = x;
        f(select(p, scatter(3, 5, 5), scatter(1, 2, 3))) =
            f(select(p, gather(5, 3, 3), gather(2, 3, 1)));
        Buffer<int> out = f.realize({7});
        std::vector<int> expected =
            swap ? std::vector<int>{0, 1, 2, 5, 4, 3, 6} : std::vector<int>{0, 2, 3, 1, 4, 5, 6};
        for (int i = 0; i < 7; i++)
            CHECK(out(i) == expected[static_cast<size_t>(i)]);
    }
}

TEST_CASE("a bubble sort: swaps along an RDom", "[scatter]") {
    const int n = 17;
    Var x("x");
    RDom r(0, n - 1, 0, n - 1, "r");
    Func f("f");
    f(x) = (x * 7) % n;
    Expr a = f(r.x), b = f(r.x + 1);
    f(r.x + scatter(0, 1)) = gather(min(a, b), max(a, b));
    std::vector<int> sorted(n);
    std::iota(sorted.begin(), sorted.end(), 0);
    check_values(f, sorted);
}

TEST_CASE("scatters along a pure Var vectorize, also of Tuples", "[scatter]") {
    Var x("x"), y("y");
    auto make = [&](int element) {
        Func f("f"), g("g");
        f(x, y) = Tuple(x, y);
        f(x, scatter(0, 1)) =
            Tuple(gather(f(x, 1)[0] + 100, f(x, 0)[0] + 200), gather(f(x, 1)[1], f(x, 0)[1]));
        f.compute_root().vectorize(x, 8).update(0).vectorize(x, 4);
        g(x, y) = f(x, y)[element];
        return g;
    };
    everywhere::check<int>([&] { return make(0); },
                           [](int x, int y) { return y == 0   ? x + 100
                                                     : y == 1 ? x + 200
                                                              : x; });
    everywhere::check<int>([&] { return make(1); },
                           [](int, int y) { return y == 0   ? 1
                                                   : y == 1 ? 0
                                                            : y; });
}

TEST_CASE("scatters at all sizes and places", "[scatter]") {
    Var x("x"), y("y");
    auto swapped = [&](bool along_x) {
        Func f("f"), g("g");
        f(x, y) = x + 1000 * y;
        if (along_x)
            f(scatter(2, 3), y) = f(gather(3, 2), y) + gather(7, 8);
        else
            f(x, scatter(2, 3)) = f(x, gather(3, 2)) + gather(7, 8);
        g(x, y) = f(x, y);
        return g;
    };
    everywhere::check<int>([&] { return swapped(true); },
                           [](int x, int y) {
                               return (x == 2 ? 3 + 7 : x == 3 ? 2 + 8 : x) + 1000 * y;
                           });
    everywhere::check<int>([&] { return swapped(false); },
                           [](int x, int y) {
                               return x + (y == 2 ? 3000 + 7 : y == 3 ? 2000 + 8 : 1000 * y);
                           });
}

TEST_CASE("misuse of scatter", "[scatter][error]") {
    Var x("x");
    Func f("f"), g("g");
    f(x) = x;
    require_message<CompileError>([&] { f(scatter(1, 2)) = gather(1, 2, 3); },
                                  {"same size", "2", "3"});
    require_message<CompileError>([&] { g(x) = gather(1, 2); }, {"'g'", "updates"});
    require_message<CompileError>([&] { gather(std::vector<Expr>()); }, {"gather", "at least one"});
    require_message<CompileError>([&] { gather(Expr(x), cast<float>(x)); }, {"gather", "one type"});
}
