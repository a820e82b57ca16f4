// Tuples: select, mux, updates of one element, element-wise operators.
#include "support/everywhere.h"
#include "support/require_message.h"

using namespace Pipe;

TEST_CASE("select of Tuples, one condition", "[tuple]") {
    Var x("x"), y("y");
    auto make = [&](int element) {
        Func f("f"), g("g");
        f(x, y) = select(x < y, Tuple(x, cast<float>(y)), Tuple(y, cast<float>(x)));
        f.compute_root();
        g(x, y) = cast<float>(f(x, y)[element]);
        return g;
    };
    everywhere::check<float>([&] { return make(0); },
                             [](int x, int y) { return static_cast<float>(std::min(x, y)); });
    everywhere::check<float>([&] { return make(1); },
                             [](int x, int y) { return static_cast<float>(std::max(x, y)); });
}

TEST_CASE("select of Tuples, a condition per element", "[tuple]") {
    Var x("x"), y("y");
    auto make = [&] {
        Func f("f");
        Tuple t = select(Tuple(x > 0, y > 0), Tuple(1, 2), Tuple(10, 20));
        f(x, y) = t[0] + t[1];
        return f;
    };
    everywhere::check<int>(make, [](int x, int y) { return (x > 0 ? 1 : 10) + (y > 0 ? 2 : 20); });
    auto many = [&] {
        Func f("f");
        Tuple t = select(Tuple(x > 0, y > 0), Tuple(1, 2), Tuple(x < -2, y < -2), Tuple(3, 4),
                         Tuple(5, 6));
        f(x, y) = t[0] * 10 + t[1];
        return f;
    };
    everywhere::check<int>(many, [](int x, int y) {
        int first = x > 0 ? 1 : x < -2 ? 3 : 5;
        int second = y > 0 ? 2 : y < -2 ? 4 : 6;
        return first * 10 + second;
    });
}

TEST_CASE("select of many ways", "[tuple]") {
    Var x("x"), y("y");
    Func g("g"), h("h");
    g(x, y) = x + y;
    h(x, y) = x - y;
    auto scalar = [&] {
        Func f("f");
        f(x, y) = select(x<0, g(x, y), x == 3, h(x, y), y> 0, Expr(g(y, y)), 7);
        return f;
    };
    auto expected = [](int x, int y) { return x < 0 ? x + y : x == 3 ? x - y : y > 0 ? 2 * y : 7; };
    everywhere::check<int>(scalar, expected);
    auto tuple = [&] {
        Func f("f");
        Tuple t = select(x<0, Tuple(x, y), x == 3, Tuple(x, -y), y> 0, Tuple(y, y), Tuple(7, 0));
        f(x, y) = t[0] + t[1];
        return f;
    };
    everywhere::check<int>(tuple, expected);
    auto two_funcs = [&] {
        Func f("f");
        f(x, y) = select(x < y, g(x, y), h(x, y));
        return f;
    };
    everywhere::check<int>(two_funcs, [](int x, int y) { return x < y ? x + y : x - y; });
}

TEST_CASE("mux", "[tuple]") {
    Var x("x"), y("y");
    auto expected = [](int x, int) {
        const int values[] = {5, 9, 2, 7};
        return values[x < 0 || x > 3 ? 3 : x];
    };
    everywhere::check<int>(
        [&] {
            Func f("f");
            f(x, y) = mux(x, {5, 9, 2, 7});
            return f;
        },
        expected);
    everywhere::check<int>(
        [&] {
            Func f("f");
            f(x, y) = mux(x, Tuple(5, 9, 2, 7));
            return f;
        },
        expected);
    everywhere::check<int>(
        [&] {
            Func f("f"), g("g");
            g(x, y) = 5;
            f(x, y) = mux(x, {g(x, y), g(y, y), g(x, x)});
            return f;
        },
        [](int, int) { return 5; });
    everywhere::check<int>(
        [&] {
            Func f("f");
            Tuple t = mux(x, {Tuple(1, y), Tuple(2, y + 1), Tuple(3, 0)});
            f(x, y) = t[0] * 100 + t[1];
            return f;
        },
        [](int x, int y) { return x == 0   ? 100 + y
                                  : x == 1 ? 201 + y
                                           : 300; });
}

TEST_CASE("updates of Tuples by operators", "[tuple]") {
    Var x("x"), y("y");
    RDom r(0, 4, "r");
    auto make = [&](int element) {
        Func f("f"), g("g"), h("h");
        g(x, y) = Tuple(x, y);
        f(x, y) += Tuple(x * r, y + r);
        f(x, y) -= g(x, y);
        f(x, y) *= Tuple(2, 3);
        f.compute_root();
        h(x, y) = f(x, y)[element];
        return h;
    };
    everywhere::check<int>([&] { return make(0); }, [](int x, int) { return 2 * (6 * x - x); });
    everywhere::check<int>([&] { return make(1); }, [](int, int y) { return 3 * (4 * y + 6 - y); });
}

TEST_CASE("an update of one element leaves the others", "[tuple]") {
    Var x("x"), y("y");
    auto make = [&](int element) {
        Func f("f"), h("h");
        f(x, y) = Tuple(x, cast<float>(y));
        f(x, y)[0] = f(x, y)[0] + 1;
        f(x, y)[0] *= 2;
        f(x, y)[1] -= 1.5f;
        f.compute_root();
        h(x, y) = cast<float>(f(x, y)[element]);
        return h;
    };
    everywhere::check<float>([&] { return make(0); },
                             [](int x, int) { return static_cast<float>(2 * (x + 1)); });
    everywhere::check<float>([&] { return make(1); },
                             [](int, int y) { return static_cast<float>(y) - 1.5f; });
}

TEST_CASE("undef stores nothing", "[tuple]") {
    Var x("x"), y("y");
    const std::pair<int, int> places[] = {{0, 13}, {0, 1}, {7, 1}, {-5, 13}, {100, 32}};
    for (bool reference : {false, true})
        for (auto [left, width] : places) {
            Func f("f");
            f(x) = undef<int>();
            f(x) = select(x % 2 == 0, x * 10, undef<int>() + 1);
            f.vectorize(x, 4, TailStrategy::GuardWithIf);
            f.update(0).vectorize(x, 4);
            Buffer<int> out(width);
            out.set_min(left);
            out.fill(-1);
            if (reference)
                f.realize_reference(Realization(out));
            else
                f.realize(out);
            INFO(width << " from " << left << ", reference " << reference);
            out.for_each_element([&](int i) { CHECK(out(i) == (i % 2 == 0 ? i * 10 : -1)); });
        }
}

TEST_CASE("undef in both arms, and in Tuples", "[tuple]") {
    Var x("x");
    for (bool reference : {false, true}) {
        Func f("f");
        f(x) = Tuple(x, x);
        f(x) = Tuple(select(x < 3, undef<int>(), select(x > 6, undef<int>(), 100)), undef<int>());
        Buffer<int> a(10), b(10);
        Realization both(a, b);
        if (reference)
            f.realize_reference(both);
        else
            f.realize(both);
        for (int i = 0; i < 10; i++) {
            CHECK(a(i) == (i < 3 || i > 6 ? i : 100));
            CHECK(b(i) == i);
        }
    }
}

TEST_CASE("misuse of Tuples", "[tuple][error]") {
    Var x("x");
    require_message<CompileError>([&] { select(x > 0, Tuple(1, 2), Tuple(1, 2, 3)); },
                                  {"select", "2", "3"});
    require_message<CompileError>([&] { mux(x, std::vector<Expr>{}); }, {"mux", "empty list"});
    require_message<CompileError>([&] { mux(cast<float>(x), {1, 2}); }, {"mux", "integer"});
    require_message<CompileError>(
        [&] {
            mux(x, {Tuple(1, 2), Tuple(1, 2, 3)});
        },
        {"mux", "same size"});
    Func f("pair");
    f(x) = Tuple(x, x);
    require_message<CompileError>([&] { f(x) += 1; }, {"pair", "2 values", "+="});
    require_message<CompileError>([&] { f(x)[2] = 1; }, {"pair", "2 values", "no value 2"});
}

TEST_CASE("a Tuple of one value", "[tuple]") {
    Var x("x");
    Func f("f");
    f(x) = Tuple(x + 1);
    f(x) += Tuple(2);
    Tuple t(x);
    CHECK(t.size() == 1);
    CHECK(Buffer<int>(f.realize({4}))(3) == 6);
}
