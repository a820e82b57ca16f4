// rfactor, and loops over RVars that run in parallel or as vectors: the values.
#include <complex>

#include <catch2/catch_test_macros.hpp>

#include <pipe/pipe.h>

#include "test/support/require_message.h"
#include "test/support/temp_folder.h"

using namespace Pipe;

namespace {

/// The same as the reference evaluator's from a min of less than 0 on, and from one that is greater.
template <typename T> void require_same(Func f, std::initializer_list<int> sizes) {
    for (int size : sizes)
        for (int min : {-7, 3}) {
            Buffer<T> fast(size), slow(size);
            fast.set_min(min), slow.set_min(min);
            f.realize(fast);
            f.realize_reference(Realization(slow));
            fast.for_each_element([&](int x) { REQUIRE(fast(x) == slow(x)); });
        }
}

/// Realizes for several sizes; the schedule's values are the definitions', which are `right`.
template <typename T, typename F>
void require_right(Func f, std::initializer_list<int> sizes, F &&right) {
    for (int size : sizes) {
        Buffer<T> fast = f.realize({size}), slow = f.realize_reference({size});
        for (int x = 0; x < size; x++) {
            REQUIRE(fast(x) == slow(x));
            REQUIRE(fast(x) == right(x));
        }
    }
}

struct Sum {
    Var x{"x"}, u{"u"}, v{"v"};
    RVar ro{"ro"}, ri{"ri"};
    RDom r;
    Func f{"f"};
    int n;
    explicit Sum(int count) : r(2, count, "r"), n(count) {
        f(x) = x;
        f(x) += r * 3 + x;
    }
    auto right() const {
        return [n = n](int x) {
            int sum = x;
            for (int i = 2; i < n + 2; i++)
                sum += 3 * i + x;
            return sum;
        };
    }
};

}  // namespace

TEST_CASE("rfactor of a sum", "[rfactor]") {
    for (int n : {1, 7, 64, 100}) {
        Sum s(n);
        SECTION("inner, vectorized " + std::to_string(n)) {
            Func m = s.f.update().split(s.r, s.ro, s.ri, 8).rfactor(s.ri, s.u);
            m.compute_root().vectorize(s.u, 8).update().vectorize(s.u, 8);
            CHECK(m.args().size() == 2);
            require_right<int>(s.f, {1, 5, 16}, s.right());
            require_same<int>(s.f, {1, 5, 16});
        }
        SECTION("outer, parallel " + std::to_string(n)) {
            Func m = s.f.update().split(s.r, s.ro, s.ri, 8).rfactor(s.ro, s.u);
            m.compute_root().update().parallel(s.u);
            require_right<int>(s.f, {1, 5, 16}, s.right());
            require_same<int>(s.f, {1, 5, 16});
        }
        SECTION("both, and the second again " + std::to_string(n)) {
            Func m = s.f.update().split(s.r, s.ro, s.ri, 4).rfactor({{s.ro, s.u}, {s.ri, s.v}});
            m.compute_at(s.f, s.x).update().vectorize(s.v).parallel(s.u);
            require_right<int>(s.f, {1, 5}, s.right());
            require_same<int>(s.f, {1, 5});
        }
        SECTION("all of it " + std::to_string(n)) {
            Func m = s.f.update().rfactor(s.r, s.u);
            m.compute_at(s.f, s.x).update().parallel(s.u);
            require_right<int>(s.f, {1, 3}, s.right());
            require_same<int>(s.f, {1, 3});
        }
    }
}

TEST_CASE("rfactor of two dimensions, with a condition", "[rfactor]") {
    Var x("x"), u("u");
    RDom r(0, 9, -2, 13, "r");
    r.where(r.x < r.y + 3);
    Func f("f");
    f(x) = 1;
    f(x) -= r.x * x + r.y;
    auto right = [](int x) {
        int value = 1;
        for (int j = -2; j < 11; j++)
            for (int i = 0; i < 9; i++)
                if (i < j + 3)
                    value -= i * x + j;
        return value;
    };
    SECTION("the inner one") {
        f.update().rfactor(r.x, u).compute_root().update().vectorize(u, 4);
    }
    SECTION("the outer one") {
        f.update().rfactor(r.y, u).compute_root().update().parallel(u);
    }
    SECTION("fused") {
        RVar rf("rf");
        f.update().fuse(r.x, r.y, rf).rfactor(rf, u).compute_root().update().parallel(u);
    }
    require_right<int>(f, {1, 6, 17}, right);
    require_same<int>(f, {1, 6, 17});
}

TEST_CASE("rfactor of a histogram", "[rfactor]") {
    Var x("x"), u("u");
    Buffer<uint8_t> image(37, 23);
    image.fill([](int x, int y) { return x * x + 7 * y; });
    RDom r(image);
    Func hist("hist");
    hist(x) = 0;
    hist(cast<int>(image(r.x, r.y))) += 1;
    std::vector<int> count(256);
    image.for_each_element([&](int x, int y) { count[image(x, y)]++; });
    SECTION("rows") {
        Func m = hist.update().rfactor(r.y, u);
        m.compute_root().update().parallel(u);
    }
    SECTION("by itself") {
        hist.update().parallel(r.y);
    }
    SECTION("atomic") {
        hist.update().atomic().parallel(r.y);
    }
    require_right<int>(hist, {256}, [&](int x) { return count[x]; });
}

// The loop becomes one of the accumulators' Func, and what is computed in it goes with it: what
// combines the accumulators cannot ask it which element is written.
TEST_CASE("a histogram of what is computed inside its parallel loop", "[reductions]") {
    Var x("x"), y("y");
    RDom r(-1, 5, "r");
    Func bin("bin"), hist("hist");
    bin(x) = x * x % 3;
    hist(x, y) = 0;
    SECTION("the element") {
        hist(clamp(bin(r) + r, 0, 3), y) += y + 1;
    }
    SECTION("the condition") {
        r.where(bin(r) > 0);
        hist(r + 1, y) += y + 1;
    }
    hist.update().parallel(r);
    bin.compute_at(hist.update(), r);
    Buffer<int> got = hist.realize({5, 3}), expected = hist.realize_reference({5, 3});
    got.for_each_element([&](int x, int y) { REQUIRE(got(x, y) == expected(x, y)); });
}

TEST_CASE("rfactor of other operators", "[rfactor]") {
    Var x("x"), u("u");
    RDom r(0, 40, "r");
    RVar ro("ro"), ri("ri");
    Func f("f");
    Expr g = (r * 37 + x * 11) % 101;
    SECTION("product") {
        f(x) = cast<uint32_t>(1), f(x) *= cast<uint32_t>(2 * g + 1);
    }
    SECTION("min") {
        f(x) = cast<uint32_t>(1000), f(x) = min(f(x), cast<uint32_t>(g));
    }
    SECTION("max") {
        f(x) = cast<uint32_t>(0), f(x) = max(cast<uint32_t>(g), f(x));
    }
    SECTION("select as minimum") {
        f(x) = cast<uint32_t>(1000);
        Expr now = cast<uint32_t>(g);
        f(x) = select(now < f(x), now, f(x));
    }
    SECTION("and, or, xor") {
        f(x) = cast<uint32_t>(7);
        SECTION("&") {
            f(x) = f(x) & cast<uint32_t>(g | 4);
        }
        SECTION("|") {
            f(x) = f(x) | cast<uint32_t>(g << 2);
        }
        SECTION("^") {
            f(x) = f(x) ^ cast<uint32_t>(g);
        }
    }
    SECTION("nested") {
        f(x) = cast<uint32_t>(3), f(x) = (f(x) + cast<uint32_t>(g)) - cast<uint32_t>(r);
    }
    SECTION("bool") {
        Func b("b");
        b(x) = cast<bool>(0), b(x) = b(x) || g == 5;
        b.update().split(r, ro, ri, 8).rfactor(ri, u).compute_root().update().vectorize(u, 8);
        b.compute_root();
        f(x) = cast<uint32_t>(b(x));
        Buffer<uint32_t> fast = f.realize({30}), slow = f.realize_reference({30});
        for (int i = 0; i < 30; i++)
            REQUIRE(fast(i) == slow(i));
        return;
    }
    Buffer<uint32_t> before = f.realize({30});
    f.update().split(r, ro, ri, 8).rfactor(ri, u).compute_root().update().vectorize(u, 8);
    require_right<uint32_t>(f, {1, 9, 30}, [&](int x) { return before(x); });
}

TEST_CASE("rfactor of argmin, of a complex product, of a Tuple of sums", "[rfactor]") {
    Var x("x"), u("u");
    RDom r(0, 21, 0, 9, "r");
    Func f("f"), out("out");
    SECTION("argmin keeps the first of equal ones") {
        Expr g = (r.x * 7 + r.y * 5 + x) % 23;
        f(x) = Tuple(0, 0, 1000);
        Expr better = g < f(x)[2];
        f(x) = Tuple(select(better, r.x, f(x)[0]), select(better, r.y, f(x)[1]),
                     select(better, g, f(x)[2]));
        SECTION("outer") {
            out(x) = f(x)[0] + 100 * f(x)[1] + 10000 * f(x)[2];
            Buffer<int> before = out.realize({30});
            f.update().rfactor(r.y, u).compute_root().update().parallel(u);
            f.compute_root();
            require_right<int>(out, {1, 30}, [&](int x) { return before(x); });
        }
        SECTION("inner: refused, since the order matters") {
            require_message<CompileError>([&] { f.update().rfactor(r.x, u); },
                                          {"f.update(0).rfactor(r$x)", "reductions.cpp:",
                                           "depends on the order", "'r$y' is further out"});
        }
        return;
    }
    SECTION("complex") {
        f(x) = Tuple(1, 0);
        Expr a = (r.x + x) % 3 - 1, b = (r.y + x) % 2;
        f(x) = Tuple(f(x)[0] * a - f(x)[1] * b, f(x)[0] * b + f(x)[1] * a);
    }
    SECTION("sum and maximum") {
        f(x) = Tuple(0, -1000);
        f(x) = Tuple(f(x)[0] + r.x * x, max(f(x)[1], r.y - r.x));
    }
    out(x) = f(x)[0] + 7 * f(x)[1];
    Buffer<int> before = out.realize({11});
    f.update().rfactor(r.x, u).compute_root().update().vectorize(u, 8);
    f.compute_root();
    require_right<int>(out, {1, 11}, [&](int x) { return before(x); });
}

TEST_CASE("what rfactor refuses", "[rfactor][error]") {
    Var x("x"), u("u");
    RDom r(1, 8, "r");
    Func f("f");
    f(x) = 1;
    SECTION("an operator") {
        f(x) = r / f(x);
        require_message<CompileError>([&] { f.update().rfactor(r, u); },
                                      {"f.update(0).rfactor(r$x)",
                                       "reductions.cpp:", "no associative operator", "r$x / f(x)"});
    }
    SECTION("mixed operators") {
        f(x) = f(x) * 2 + r;
        require_message<CompileError>([&] { f.update().rfactor(r, u); },
                                      {"mixes operators", "f(x) * 2 + r$x"});
    }
    SECTION("another element") {
        f(r) = f(r - 1) + 1;
        require_message<CompileError>([&] { f.update().rfactor(r, u); },
                                      {"f(r$x - 1)", "not the element"});
    }
    SECTION("directives that would be lost") {
        Func g("g");
        g(x) = x;
        g.compute_root();
        f(x) += g(x + r);
        f.update().prefetch(g, r, r);
        require_message<CompileError>([&] { f.update().rfactor(r, u); },
                                      {"has a prefetch() already", "Call rfactor() first"});
    }
    SECTION("names") {
        f(x) += r;
        require_message<CompileError>([&] { f.update().rfactor(r, x); },
                                      {"'x' is a dimension already"});
        require_message<CompileError>([&] { f.update().rfactor(RVar("q"), u); },
                                      {"no RVar loop 'q'"});
        require_message<CompileError>([&] { Stage(f).rfactor(r, u); },
                                      {"pure definition", "f.update()"});
    }
}

TEST_CASE("reductions are parallel and vectors without rfactor", "[reductions]") {
    for (int n : {1, 8, 63, 200}) {
        Sum s(n);
        SECTION("vectorize " + std::to_string(n)) {
            s.f.update().vectorize(s.r, 8);
        }
        SECTION("parallel " + std::to_string(n)) {
            s.f.update().parallel(s.r);
        }
        SECTION("both " + std::to_string(n)) {
            s.f.update().split(s.r, s.ro, s.ri, 16).parallel(s.ro).vectorize(s.ri);
        }
        SECTION("outside of x " + std::to_string(n)) {
            s.f.update()
                .split(s.r, s.ro, s.ri, 4)
                .reorder(s.ri, s.x, s.ro)
                .parallel(s.ro)
                .unroll(s.ri);
        }
        require_right<int>(s.f, {1, 5, 16}, s.right());
    }
}

TEST_CASE("the vectors of a sum are loaded in one piece", "[reductions]") {
    ImageParam in(Float(32), 2, "in");
    RDom r(0, 100, 0, in.height());
    Func f("f");
    f() = 0;
    f() += cast<int>(in(r.x, r.y));
    f.update().vectorize(r.x, 8);
    SECTION("one after the other") {}
    SECTION("over all cores") {
        f.update().parallel(r.y);
    }
    TempFolder folder;
    f.compile_to_llvm_assembly(folder / "sum.ll", {in});
    const std::string code = folder.read("sum.ll");
    CHECK(code.find("load <8 x float>") != std::string::npos);
    CHECK(code.find("gather") == std::string::npos);
}

TEST_CASE("a sum of a Param's size, inside a consumer's tile", "[reductions]") {
    Var x("x"), y("y"), yo("yo"), yi("yi");
    Param<int> n("n");
    ImageParam in(Int(32), 1, "in");
    RDom r(0, n, "r");
    Func f("f"), g("g");
    f(x, y) += in(r) * (x + 1) + y;
    g(x, y) = f(x, y) - f(x + 1, y);
    g.split(y, yo, yi, 4).parallel(yo);
    f.compute_at(g, yi).update().vectorize(r, 8);
    Buffer<int> image(100);
    image.fill([](int i) { return i * i % 17; });
    for (int count : {1, 7, 8, 100}) {
        Buffer<int> exact(count);  // nothing beyond may be read
        exact.fill([](int i) { return i * i % 17; });
        in.set(exact);
        n.set(count);
        Buffer<int> fast = g.realize({6, 9}), slow = g.realize_reference({6, 9});
        fast.for_each_element([&](int x, int y) { REQUIRE(fast(x, y) == slow(x, y)); });
    }
}

TEST_CASE("floats are regrouped only where the target allows", "[reductions]") {
    Var x("x");
    RDom r(0, 64, "r");
    Func f("f");
    f(x) = 0.f;
    f(x) += cast<float>(r) * 0.5f + cast<float>(x);
    f.update().vectorize(r, 8);
    require_message<CompileError>([&] { f.realize({4}); },
                                  {"f.update(0).vectorize(r$x_lane)", "reductions.cpp:",
                                   "two of them write 'f(x)'", "Target::FastMath", "rfactor()"});
    Buffer<float> fast = f.realize({4}, get_host_target().with_feature(Target::FastMath));
    for (int i = 0; i < 4; i++)
        CHECK(fast(i) == 64 * 63 / 2 * 0.5f + 64.f * i);  // exact: small numbers
}

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

TEST_CASE("storage that is hoisted to a loop of a sum over all cores", "[races]") {
    Var x("x");
    RDom r(0, 50, "r");
    Func g("g"), sum("sum");
    g(x) = x * 3;
    sum(x) = 0;
    sum(x) += g(x + r);
    sum.update().reorder(x, r).parallel(r);
    g.compute_at(sum.update(), x).hoist_storage(sum.update(), r);
    Buffer<int> fast = sum.realize({9}), slow = sum.realize_reference({9});
    fast.for_each_element([&](int i) { REQUIRE(fast(i) == slow(i)); });
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

// Which iteration writes last makes no difference.
TEST_CASE("a scatter of values that depend on pure Vars alone", "[races]") {
    Var x("x"), b("b");
    RVar ro("ro"), ri("ri");
    for (int how = 0; how < 4; how++) {
        Func squares("squares"), hits("hits");
        RDom r(0, 50, "r");
        squares(x) = x * x;
        hits(b, x) = 0;
        hits(squares(r) % 10, x) = squares(x) + 1;
        if (how > 0)
            hits.update().split(r, ro, ri, 8).reorder(ro, x, ri);
        if (how > 1)
            hits.update().parallel(ri);
        if (how == 2)
            hits.update().vectorize(x, 4);
        if (how == 3)
            hits.update().atomic().vectorize(ro, 2);
        INFO(how);
        Buffer<int> fast = hits.realize({10, 13}), slow = hits.realize_reference({10, 13});
        bool square[] = {true, true, false, false, true, true, true, false, false, true};
        for (int j = 0; j < 13; j++)
            for (int i = 0; i < 10; i++) {
                CHECK(fast(i, j) == (square[i] ? j * j + 1 : 0));
                CHECK(slow(i, j) == fast(i, j));
            }
    }
    Func f("f");
    RDom r(0, 50, "r");
    f(x) = 0;
    f(r % 10) = r;
    f.update().parallel(r);
    require_message<CompileError>([&] { f.realize({10}); },
                                  {"f.update(0)", "parallel", "two of them write"});
}

TEST_CASE("races that are refused", "[races][error]") {
    Var x("x"), y("y");
    RDom r(1, 8, 1, 8, "r");
    Func f("f");
    f(x, y) = x + y;
    SECTION("neighbours") {
        f(r.x, r.y) = f(r.x - 1, r.y) / 2;
        SECTION("along") {
            f.update().parallel(r.x);
            require_message<CompileError>(
                [&] {
                    f.realize({9, 9});
                },
                {"f.update(0).parallel(r$x)", "reductions.cpp:", "'r$x'",
                 "one writes 'f(r$x, r$y)'", "reads 'f(r$x - 1, r$y)'", "rfactor()", "atomic()",
                 "allow_race_conditions()"});
        }
        SECTION("across: no race") {
            f.update().parallel(r.y);
            Buffer<int> fast = f.realize({9, 9}), slow = f.realize_reference({9, 9});
            fast.for_each_element([&](int x, int y) { REQUIRE(fast(x, y) == slow(x, y)); });
        }
        SECTION("another order of rows: no race") {
            f.update().reorder(r.y, r.x).vectorize(r.y, 4);
            Buffer<int> fast = f.realize({9, 9}), slow = f.realize_reference({9, 9});
            fast.for_each_element([&](int x, int y) { REQUIRE(fast(x, y) == slow(x, y)); });
        }
    }
    SECTION("even and odd never meet") {
        f(2 * r.x, r.y) = f(2 * r.x + 1, r.y) * 3;
        f.update().parallel(r.y).vectorize(r.x, 4);
        Buffer<int> fast = f.realize({18, 9}), slow = f.realize_reference({18, 9});
        fast.for_each_element([&](int x, int y) { REQUIRE(fast(x, y) == slow(x, y)); });
    }
    SECTION("tiles of a split never meet") {
        RVar ro("ro"), ri("ri");
        f(r.x, 0) = f(r.x, 1) - r.x;
        f.update().split(r.x, ro, ri, 3).parallel(ro);
        Buffer<int> fast = f.realize({9, 9}), slow = f.realize_reference({9, 9});
        fast.for_each_element([&](int x, int y) { REQUIRE(fast(x, y) == slow(x, y)); });
        f.update().parallel(r.y);
        require_message<CompileError>(
            [&] {
                f.realize({9, 9});
            },
            {"f.update(0).parallel(r$y)", "write 'f(r$x"});
    }
    SECTION("diagonals, skewed the wrong way") {
        f(r.x, r.y) = f(r.x + 1, r.y - 1) * 2;
        f.update().reorder(r.y, r.x);
        require_message<CompileError>(
            [&] {
                f.realize({10, 9});
            },
            {"f.update(0).reorder(r$y, r$x)", "another result", "f(r$x + 1, r$y - 1)"});
    }
    SECTION("an index that depends on data") {
        Buffer<uint8_t> index(20);
        index.fill([](int i) { return i % 7; });
        f(cast<int>(index(r.x)), r.y) = r.x;
        f.update().vectorize(r.x, 4);
        require_message<CompileError>(
            [&] {
                f.realize({9, 9});
            },
            {"f.update(0).vectorize(r$x_lane)", "two of them write"});
    }
    SECTION("allowed by the user") {
        f(r.x, 0) = f(r.x, 1);
        f.update().allow_race_conditions().parallel(r.y);
        CHECK_NOTHROW(f.realize({9, 9}));
    }
}

TEST_CASE("atomic(true) is one step, or refused", "[atomic]") {
    Var x("x");
    RDom r(0, 200000, "r");
    Func f("f");
    Expr i = r % 3;
    SECTION("a Tuple") {
        f(x) = Tuple(0, 0);
        f(i) = Tuple(f(i)[0] + 1, f(i)[1] + 2);
        f.update().atomic(true).parallel(r);
        require_message<CompileError>([&] { f.compile_jit(); },
                                      {"parallel(r", "Tuple", "rfactor()"});
    }
    SECTION("a scatter") {
        f(x) = 0;
        f(scatter(i, i + 3)) = f(scatter(i, i + 3)) + 1;
        f.update().atomic(true).parallel(r);
        require_message<CompileError>([&] { f.compile_jit(); }, {"parallel(r", "scatter()"});
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
        require_message<CompileError>([&] { f.compile_jit(); }, {"f.atomic", "undef"});
    }
}

// Factors need RVars: the loop over both had no extent to make accumulators for.
TEST_CASE("a loop that is fused of a Var and an RVar has no accumulators", "[schedule][races]") {
    Var x("x"), t("t");
    RVar rt("rt");
    RDom r(0, 4, "r");
    for (bool vectorized : {false, true}) {
        Func f("f"), g("g");
        f(x) = 0;
        f(x) += x + r;
        g(x) = 0;
        g(x) += x + r;
        f.update().fuse(x, r, t);
        g.update().fuse(r, x, rt);
        if (vectorized)
            f.update().vectorize(t, 4), g.update().vectorize(rt, 4);
        else
            f.update().parallel(t), g.update().parallel(rt);
        for (Func wrong : {f, g})
            require_message<CompileError>(
                [&] { wrong.compile_jit(); },
                {"may touch the same elements", "cannot have accumulators of its own", "fused"});
    }
}
