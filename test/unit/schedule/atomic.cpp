// atomic(): updates of one element by several threads, or lanes.
#include <algorithm>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include <pipe/pipe.h>

#include "test/support/require_message.h"
#include "test/unit/schedule/same_values.h"

using namespace Pipe;

TEST_CASE("atomic updates", "[atomic]") {
    Buffer<uint8_t> image(1000);
    image.fill([](int i) { return i * i % 251; });
    const Target fast = get_host_target();
    for (int what : {0, 1, 2, 3, 4, 5})
        for (int how : {0, 1, 2, 3}) {
            INFO("update " << what << ", loops " << how);
            Var x("x");
            RDom r(0, 1000, "r");
            Func f("f");
            Expr index = cast<int>(image(r)) % 10;
            f(x) = what < 4 ? cast<float>(x) : Expr(7.f);
            if (what == 0)
                f(index) += 1.f;
            else if (what == 1)
                f(index) = min(f(index), -cast<float>(r));
            else if (what == 2)  // needs a loop: no processor does it in one operation
                f(index) = select(f(index) > 3.f, f(index) + 8.f, f(index) + 8.f);
            else if (what == 3)
                f(3) += cast<float>(r % 2);
            else if (what == 4)
                f(index) = f(index) - 2.f;
            else
                f(index) *= cast<float>(1 + (r % 2) * 0);
            Buffer<float> before = f.realize({10}, fast);
            Stage update = f.update().atomic(true);
            if (how == 0)
                update.parallel(r);
            else if (how == 1)
                update.vectorize(r, 8);
            else if (how == 2)
                update.parallel(r, 64);
            else
                update.split(r, RVar("ro"), RVar("ri"), 8)
                    .parallel(RVar("ro"))
                    .vectorize(RVar("ri"));
            Buffer<float> after = f.realize({10}, fast);
            for (int i = 0; i < 10; i++)
                REQUIRE(after(i) == before(i));
        }
}

TEST_CASE("atomic updates at all sizes and places", "[atomic]") {
    for (int n : {1, 7, 100})
        for (int how : {0, 1, 2}) {
            Var x("x");
            RDom r(-3, n, "r");
            Func f("f"), g("g");
            f(x) = x;
            f((r * r + 5) % 10 - 4) += r + 1;
            g(x) = f(x) * 2;
            f.compute_root();
            Stage update = f.update().atomic();
            if (how == 0)
                update.parallel(r);
            else if (how == 1)
                update.vectorize(r, 8);
            else
                update.parallel(r, 5);
            require_same<int>(g, {1, 6, 33});
        }
}

TEST_CASE("atomic updates of other types", "[atomic]") {
    auto run = [](auto zero) {
        using T = decltype(zero);
        for (int op : {0, 1, 2, 3, 4}) {
            INFO("operator " << op << ", " << sizeof(T) << " bytes");
            Var x("x");
            RDom r(0, 500, "r");
            Func f("f");
            f(x) = cast<T>(x + 1);
            Expr now = cast<T>(r % 97), at = r % 7;
            Expr old = f(at);
            f(at) = op == 0   ? old + now
                    : op == 1 ? old - now
                    : op == 2 ? min(old, now)
                    : op == 3 ? max(old, now)
                              : old * (now * 2 + 1);
            Buffer<T> before = f.realize({7});
            f.update().atomic().parallel(r);
            Buffer<T> after = f.realize({7});
            for (int i = 0; i < 7; i++)
                REQUIRE(after(i) == before(i));
        }
    };
    run(uint8_t()), run(int16_t()), run(uint32_t()), run(int64_t());
}

TEST_CASE("atomic() needs an operator", "[atomic][error]") {
    Var x("x");
    RDom r(0, 8, "r");
    Func f("f");
    f(x) = 1;
    f(x) = r - f(x);
    f.update().atomic().parallel(r);
    require_message<CompileError>(
        [&] { f.realize({4}); },
        {"f.update(0).parallel(r$x)", "atomic() does not help", "r$x - f(x)", "atomic(true)"});
}

TEST_CASE("atomic() refuses what reads another element than it stores", "[atomic][error]") {
    Var x("x");
    RDom r(0, 100, "r");
    Func f("f");
    f(x) = 0;
    f(r % 10) += f((r + 1) % 10);
    SECTION("parallel") {
        f.update().atomic().parallel(r);
    }
    SECTION("vectors") {
        f.update().atomic().vectorize(r, 4);
    }
    require_message<CompileError>([&] { f.realize({10}); }, {"f.update(0)", "it reads 'f((r$x",
                                                             "+ 1) % 10)'", "atomic(true)"});
}

TEST_CASE("atomic(true) is one step", "[atomic]") {
    Var x("x");
    RDom r(0, 200000, "r");
    Func f("f");
    Expr i = r % 3;
    SECTION("a Tuple") {
        f(x) = Tuple(0, 0);
        f(i) = Tuple(f(i)[0] + 1, f(i)[1] + 2);
        f.update().atomic().parallel(r);
        Realization got = f.realize({3});
        Buffer<int> ones = got[0], twos = got[1];
        for (int k = 0; k < 3; k++) {
            CHECK(ones(k) == (200000 + 2 - k) / 3);
            CHECK(twos(k) == 2 * ones(k));
        }
    }
    SECTION("a Tuple whose values need each other") {
        f(x) = Tuple(0, 1);
        f(i) = Tuple(f(i)[1], f(i)[0] + 2);
        bool vectors = GENERATE(false, true);
        if (vectors)
            f.update().atomic(true).vectorize(r, 8).parallel(r);
        else
            f.update().atomic(true).parallel(r);
        Realization got = f.realize({3}), serial = f.realize_reference({3});
        Buffer<int> a = got[0], b = got[1], ra = serial[0], rb = serial[1];
        for (int k = 0; k < 3; k++) {
            CHECK(a(k) == ra(k));
            CHECK(b(k) == rb(k));
        }
    }
    SECTION("the place of the largest, found by all threads") {
        f(x) = Tuple(-1, -1);
        Expr value = (r * 7919) % 100003, better = value > f(0)[0];
        f(0) = Tuple(select(better, value, f(0)[0]), select(better, r, f(0)[1]));
        f.update().atomic(true).parallel(r, 1000);
        Realization got = f.realize({1});
        Buffer<int> best = got[0], place = got[1];
        CHECK(best(0) == 100002);
        CHECK(static_cast<int>(int64_t{place(0)} * 7919 % 100003) == 100002);
    }
    SECTION("a scatter") {
        f(x) = 0;
        f(scatter(i, i + 3)) = f(scatter(i, i + 3)) + 1;
        f.update().atomic(true).parallel(r);
        Buffer<int> got = f.realize({6});
        for (int k = 0; k < 6; k++)
            CHECK(got(k) == (200000 + 2 - k % 3) / 3);
    }
    SECTION("an update that reads another element than it stores") {
        // In any order, each iteration makes the greatest element greater by one.
        f(x) = 0;
        f(i) = max(f(i), f((i + 1) % 3), f((i + 2) % 3)) + 1;
        f.update().atomic(true).parallel(r);
        Buffer<int> got = f.realize({3});
        CHECK(std::max({got(0), got(1), got(2)}) == 200000);
    }
    SECTION("an update that leaves elements out") {
        f(x) = 0;
        f(i) = select(r % 2 == 0, f(i) + 1, undef<int>());
        f.update().atomic(true).parallel(r);
        Buffer<int> got = f.realize({3});
        CHECK(got(0) + got(1) + got(2) == 100000);
    }
    SECTION("an update whose where reads what is stored") {
        f(x) = 0;
        r.where(f(i) < 1000);
        f(i) += 1;
        f.update().atomic(true).parallel(r);
        require_message<CompileError>([&] { f.compile_jit(); }, {"parallel(r", "where"});
    }
    SECTION("an update that leaves out what it reads") {
        f(x) = 0;
        f(i) = select(f(i) < 1000, f(i) + 1, undef<int>());
        f.update().atomic(true).parallel(r);
        Buffer<int> got = f.realize({3});
        for (int k = 0; k < 3; k++)
            CHECK(got(k) == 1000);
    }
    SECTION("require() in an update of several elements") {
        f(x) = Tuple(0, 0);
        f(i) = Tuple(require(f(i)[1] >= 0, f(i)[1] + 1, "negative"), f(i)[0] + 1);
        f.update().atomic(true).parallel(r);
        require_message<CompileError>([&] { f.compile_jit(); },
                                      {"f.atomic", "require()", "add_requirement()"});
    }
}

// Of a box filter: all values were computed before any was stored, so that lanes read what was there before.
TEST_CASE("lanes of a Tuple that need what earlier lanes store", "[atomic]") {
    Var x("x");
    RDom r(2, 62, "r");
    Func h("h");
    h(x) = Tuple(x, 2 * x);
    Expr now = r * 3;
    SECTION("two elements before") {
        h(r) = Tuple(now, now + h(r - 2)[0] + h(r - 2)[1]);
    }
    SECTION("of the largest so far") {
        Expr value = (r * 29) % 61, better = value > h(0)[0];
        h(0) = Tuple(select(better, value, h(0)[0]), select(better, r, h(0)[1]));
    }
    Realization right = h.realize_reference({64});
    h.update().atomic(true).vectorize(r, 16);
    Realization got = h.realize({64});
    for (size_t value : {size_t(0), size_t(1)}) {
        Buffer<int> a = got[value], b = right[value];
        a.for_each_element([&](int i) { REQUIRE(a(i) == b(i)); });
    }
}
