// rfactor, and loops over RVars that run in parallel or as vectors: the values.
#include <complex>

#include <catch2/catch_test_macros.hpp>

#include <pipe/pipe.h>

#include "test/support/require_message.h"
#include "test/support/temp_folder.h"
#include "test/unit/schedule/same_values.h"

using namespace Pipe;

namespace {

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

TEST_CASE("rfactor of a histogram of a Buffer", "[rfactor]") {
    Buffer<uint8_t> in(23, 17);
    in.fill([](int i, int j) { return static_cast<uint8_t>((i * 7 + j * 13) % 11); });
    Var x("x"), u("u");
    RDom r(0, 23, 0, 17, "r");
    Func h("h");
    h(x) = 0;
    h(in(r.x, r.y)) = h(in(r.x, r.y)) + 1;
    h.update().rfactor(r.y, u).compute_root().update().parallel(u);
    Buffer<int> got = h.realize({11}), want(11);
    want.fill(0);
    in.for_each_value([&](uint8_t v) { want(v)++; });
    for (int i = 0; i < 11; i++)
        CHECK(got(i) == want(i));
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
                                      {"already has a prefetch()", "Call rfactor() first"});
    }
    SECTION("names") {
        f(x) += r;
        require_message<CompileError>([&] { f.update().rfactor(r, x); },
                                      {"'x' is already a dimension"});
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

TEST_CASE("rfactor that preserves no RVar: the whole sum in a Func of its own", "[rfactor]") {
    Sum s(50);
    Func whole = s.f.update().rfactor(std::vector<std::pair<RVar, Var>>{});
    whole.compute_root().update().vectorize(s.x, 4);
    require_right<int>(s.f, {1, 5, 16}, s.right());
    Func c("c");
    RDom r(0, 100);
    c() = 0;
    c() += r * 1;
    c.update().rfactor({}).compute_root();
    CHECK(Buffer<int>(c.realize())() == 4950);
}
