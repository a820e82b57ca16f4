// Implicit Vars, lambda, typed Funcs, and what Funcs say of themselves.
#include "support/everywhere.h"
#include "support/require_message.h"

using namespace Pipe;

TEST_CASE("implicit Vars in calls and definitions", "[implicit]") {
    Var x("x"), y("y");
    everywhere::check<int>(
        [&] {
            Func g("g"), f("f");
            g(x, y) = x - 2 * y;
            f(_) = g(_) + 1;
            CHECK(f.dimensions() == 2);
            CHECK(f.args()[1].name() == "_1");
            return f;
        },
        [](int x, int y) { return x - 2 * y + 1; });
    everywhere::check<int>(
        [&] {
            Func g("g"), f("f");
            g(x, y) = x - 2 * y;
            f(x, _) = g(_, x) * 3;  // f(x, _0) = g(_0, x)
            CHECK(f.dimensions() == 2);
            return f;
        },
        [](int x, int y) { return 3 * (y - 2 * x); });
    everywhere::check<int>(
        [&] {
            Func f("f");
            f(_) = _0 * 100 + Expr(_1);
            f(_) += _1;
            return f;
        },
        [](int x, int y) { return x * 100 + 2 * y; });
    everywhere::check<int>(
        [&] {
            Func g("g"), f("f");
            g(x, y) = x - y;
            f(_) += g(_);
            return f;
        },
        [](int x, int y) { return x - y; });
}

TEST_CASE("`_` may stand for nothing", "[implicit]") {
    Var x("x"), y("y");
    Func g("g"), f("f");
    g(x, y) = x + y;
    f(x, y, _) = g(x, y, _);
    CHECK(f.dimensions() == 2);
    CHECK(Var::implicit(3).name() == "_3");
    CHECK(_7.is_implicit());
    CHECK_FALSE(_.is_implicit());
    CHECK(_.is_placeholder());
    CHECK_FALSE(Var("_a").is_implicit());
}

TEST_CASE("implicit Vars of images", "[implicit]") {
    Buffer<int> image(4, 3);
    image.fill([](int x, int y) { return x + 10 * y; });
    ImageParam param(Int(32), 2, "param");
    param.set(image);
    Func f(image), g("g"), h(param(_) * 2);
    g(_) = param(_) + image(_);
    Buffer<int> a = f.realize({4, 3}), b = g.realize({4, 3}), c = h.realize({4, 3});
    for (int y = 0; y < 3; y++)
        for (int x = 0; x < 4; x++) {
            CHECK(a(x, y) == x + 10 * y);
            CHECK(b(x, y) == 2 * (x + 10 * y));
            CHECK(c(x, y) == 2 * (x + 10 * y));
        }
}

TEST_CASE("lambda", "[lambda]") {
    Var x("x"), y("y"), z("z"), w("w"), v("v");
    everywhere::check<int>([&] { return lambda(x, y, x * 3 + y); },
                           [](int x, int y) { return 3 * x + y; });
    Func g("g");
    g(x, y) = x + 10 * y;
    everywhere::check<int>([&] { return lambda(g(_) + 1); },
                           [](int x, int y) { return x + 10 * y + 1; });
    everywhere::check<int>([&] { return lambda(x, g(_, x)); },
                           [](int x, int y) { return y + 10 * x; });
    CHECK(Buffer<int>(lambda(7).realize())() == 7);
    CHECK(Buffer<int>(lambda(x, x).realize({5}))(4) == 4);
}

namespace {

/// f(i0, i1, ...) = i0 + 2 i1 + 4 i2 + ... at sizes with a 1 among them and elsewhere than at 0.
void check_weighted(Func f, const std::vector<std::vector<int>> &all_sizes) {
    for (const std::vector<int> &sizes : all_sizes)
        for (bool reference : {false, true}) {
            Buffer<int> out(sizes);
            REQUIRE(f.dimensions() == out.dimensions());
            for (int d = 0; d < out.dimensions(); d++)
                out.translate(d, 3 * d - 4);
            if (reference)
                f.realize_reference(Realization(out));
            else
                f.realize(out);
            int wrong = 0, count = 0;
            out.for_each_element([&](const int *at) {
                int expected = 0;
                for (int d = 0; d < out.dimensions(); d++)
                    expected += at[d] << d;
                wrong += out(at) != expected;
                count++;
            });
            INFO(out.dimensions() << " dimensions, reference " << reference);
            CHECK(wrong == 0);
            CHECK(count == out.number_of_elements());
        }
}

}  // namespace

TEST_CASE("lambda of many Vars", "[lambda]") {
    Var x("x"), y("y"), z("z"), w("w"), v("v");
    check_weighted(lambda(x, y, z, x + 2 * y + 4 * z), {{1, 1, 1}, {5, 1, 3}, {2, 3, 4}});
    check_weighted(lambda(x, y, z, w, x + 2 * y + 4 * z + 8 * w),
                   {{1, 1, 1, 1}, {3, 2, 1, 5}, {2, 3, 3, 2}});
    check_weighted(lambda(x, y, z, w, v, x + 2 * y + 4 * z + 8 * w + 16 * v),
                   {{1, 1, 1, 1, 1}, {1, 3, 2, 1, 5}, {3, 2, 2, 3, 2}});
}

TEST_CASE("evaluate", "[lambda]") {
    CHECK(evaluate<int>(Expr(3) + 4) == 7);
    CHECK(evaluate<float>(sqrt(Expr(2.25f))) == 1.5f);
    CHECK(evaluate_may_gpu<uint8_t>(cast<uint8_t>(300)) == 44);
    int i = 0;
    double d = 0;
    evaluate(Tuple(Expr(4), Expr(0.5)), i, d);
    CHECK(i == 4);
    CHECK(d == 0.5);
    evaluate_may_gpu(Tuple(Expr(5), Expr(1.5)), i, d);
    CHECK(i == 5);
    CHECK(d == 1.5);
    require_message<CompileError>([] { evaluate<float>(Expr(1)); }, {"evaluate<float32>", "int32"});
}

TEST_CASE("typed Funcs", "[func]") {
    Var x("x"), y("y");
    Func f(UInt(8), 2, "bytes"), pair({Int(32), Float(32)}, 1, "pair"), any(Int(16), -1);
    CHECK(f.type() == UInt(8));
    f(x, y) = cast<uint8_t>(x);
    CHECK(f.dimensions() == 2);
    pair(x) = Tuple(x, 1.0f);
    CHECK(pair.outputs() == 2);
    any(x, y) = cast<int16_t>(y);
    CHECK(any.dimensions() == 2);
}

TEST_CASE("typed Funcs compute what they are defined as", "[func]") {
    Var x("x"), y("y");
    everywhere::check<uint8_t>(
        [&] {
            Func f(UInt(8), 2, "bytes");
            f(x, y) = cast<uint8_t>(x + 3 * y);
            return f;
        },
        [](int x, int y) { return static_cast<uint8_t>(x + 3 * y); });
    everywhere::check<float>(
        [&] {
            Func pair({Int(32), Float(32)}, 2, "pair"), f(Float(32), -1, "sum");
            pair(x, y) = Tuple(x - y, cast<float>(y) * 0.5f);
            f(x, y) = pair(x, y)[0] + pair(x, y)[1];
            return f;
        },
        [](int x, int y) { return static_cast<float>(x - y) + static_cast<float>(y) * 0.5f; });
}

TEST_CASE("a typed Func rejects other definitions", "[func][error]") {
    Var x("x"), y("y");
    require_message<CompileError>(
        [&] {
            Func f(UInt(8), 2, "bytes");
            f(x, y) = x;
        },
        {"bytes", "int32", "uint8", "declared", "implicit.cpp"});
    require_message<CompileError>(
        [&] {
            Func f(UInt(8), 2, "bytes");
            f(x) = cast<uint8_t>(x);
        },
        {"bytes", "1 dimension,", "declared with 2"});
    require_message<CompileError>(
        [&] {
            Func f({Int(32), Int(32)}, 1, "pair");
            f(x) = x;
        },
        {"pair", "int32, int32"});
    require_message<CompileError>(
        [&] {
            Func f("f"), g("g");
            g(x, y) = x;
            f(x) = g(x, _);
        },
        {"'_0'", "implicit"});
    require_message<CompileError>(
        [&] {
            Func f("f"), g("g");
            g(x, y) = x;
            f(x, y) = g(_, _);
        },
        {"'_' twice"});
}

TEST_CASE("what a Func says of its updates", "[func]") {
    Var x("x");
    RDom r(0, 5, "r");
    Func f("f");
    f(x) = 0;
    f(x) = f(x) + x;
    f(r) = 2 * r;
    CHECK(f.num_update_definitions() == 2);
    CHECK(f.rvars(0).empty());
    CHECK(f.rvars(1).size() == 1);
    CHECK(f.rvars(1)[0].name() == "r$x");
    CHECK(f.update_args(1).size() == 1);
    CHECK(f.update_value(1).type() == Int(32));
    CHECK(f.update_values(0).size() == 1);
    CHECK(f.output_types() == std::vector<Type>{Int(32)});
    require_message<CompileError>([&] { f.update_value(2); }, {"'f'", "2 update definitions"});
}
