// Floats of 16 bits: the formats, casts to them and their types. float16_operations.cpp has what is done with
// them.
#include <bit>
#include <cmath>
#include <limits>

#include "float16.h"
#include "support/everywhere.h"

using namespace Pipe;
using Pipe::testing::nearest;

namespace {

/// Numbers where rounding is hard: at, next to and between all kinds of halves.
std::vector<double> hard_numbers() {
    std::vector<double> values{
        0.0,   -0.0,   1e-50,    65504, 65519.99,
        65520, 3.4e38, 3.395e38, 1e300, std::numeric_limits<double>::infinity()};
    for (double base : {1.0, 1.5, 1000.0, 0x1p-14, 0x1p-20, 0x1p-24, 0x1p-25, 0x1p-126, 0x1p-133,
                        0x1p-134, 0x1p100})
        for (int i = 0; i < 9; i++)
            for (double step : {0x1p-8, 0x1p-9, 0x1p-11, 0x1p-12})
                for (double nudge : {0.0, 0x1p-40, -0x1p-40})
                    values.push_back(base * (1 + i * step + nudge));
    size_t n = values.size();
    for (size_t i = 0; i < n; i++)
        values.push_back(-values[i]);
    return values;
}

const std::vector<Target> targets() {
    Target host = get_host_target();
    return {host, host.without_feature(Target::F16C)};
}

/// cast<F>(T) of the values, compiled for each target, in vectors and not, and by the reference.
template <typename F, typename T> void check_cast(const std::vector<T> &values) {
    auto n = static_cast<int>(values.size());
    Buffer<T> in(n);
    for (int i = 0; i < n; i++)
        in(i) = values[static_cast<size_t>(i)];
    for (const Target &target : targets())
        for (int lanes : {0, 1, 4, 7, 16}) {
            Var x("x");
            Func f("f");
            f(x) = cast<F>(in(x));
            if (lanes > 1)
                f.vectorize(x, lanes, TailStrategy::GuardWithIf);
            Buffer<F> out(n);
            if (lanes == 0)
                f.realize_reference(Realization(out));
            else
                f.realize(out, target);
            int wrong = 0;
            double first = 0;
            for (int i = 0; i < n; i++)
                if (out(i).to_bits() != nearest<F>(static_cast<double>(in(i))) && wrong++ == 0)
                    first = static_cast<double>(in(i));
            INFO(to_string(type_of<T>()) << " to " << to_string(type_of<F>()) << ", lanes " << lanes
                                         << ", " << target.to_string() << ": " << first);
            CHECK(wrong == 0);
        }
}

template <typename F> void check_format() {
    std::vector<double> numbers = hard_numbers();
    for (double v : numbers)
        CHECK(F(v).to_bits() == nearest<F>(v));
    check_cast<F, double>(numbers);
    check_cast<F, float>(std::vector<float>(numbers.begin(), numbers.end()));
    std::vector<int16_t> shorts;
    for (int i = -32768; i < 32768; i += 7)
        shorts.push_back(static_cast<int16_t>(i));
    check_cast<F, int16_t>(shorts);
    check_cast<F, int32_t>({0, 1, -1, 2049, 2051, 65519, 65520, 16777217, -33685505, INT32_MAX});
    check_cast<F, uint32_t>({0, 257, 2049, 65519, 0x01010001u, 0x80800001u, 0xffffffffu});
    // All numbers, to float and back.
    Buffer<F> all(65536);
    for (int i = 0; i < 65536; i++)
        all(i) = F::make_from_bits(static_cast<uint16_t>(i));
    for (const Target &target : targets()) {
        Var x("x");
        Func f("f"), g("g");
        f(x) = cast<float>(all(x));
        g(x) = cast<F>(cast<double>(all(x)));
        f.vectorize(x, 8), g.vectorize(x, 8);
        Buffer<float> wide(65536);
        Buffer<F> back(65536);
        f.realize(wide, target), g.realize(back, target);
        int wrong = 0;
        for (int i = 0; i < 65536; i++) {
            auto want = static_cast<float>(all(i));
            bool same = std::isnan(want)
                            ? std::isnan(wide(i)) && back(i).is_nan()
                            : std::bit_cast<uint32_t>(wide(i)) == std::bit_cast<uint32_t>(want) &&
                                  back(i).to_bits() == all(i).to_bits();
            wrong += !same;
        }
        CHECK(wrong == 0);
    }
}

}  // namespace

TEST_CASE("float16_t and casts to it round once", "[float16]") {
    check_format<float16_t>();
}

TEST_CASE("bfloat16_t and casts to it round once", "[float16]") {
    check_format<bfloat16_t>();
}

TEST_CASE("int64 to bfloat16 rounds once, where a double cannot hold the number", "[float16]") {
    // A half of the last place, and a little more or less.
    const int64_t half = (int64_t{1} << 62) + (int64_t{1} << 54);
    Buffer<int64_t> in(4);
    in(0) = half, in(1) = half + 1, in(2) = half - 1, in(3) = -half - 1;
    const uint16_t up = bfloat16_t(0x1.02p62).to_bits(), down = bfloat16_t(0x1p62).to_bits();
    for (bool reference : {false, true}) {
        Var x("x");
        Func f("f");
        f(x) = cast<bfloat16_t>(in(x));
        Buffer<bfloat16_t> out(4);
        if (reference)
            f.realize_reference(Realization(out));
        else
            f.vectorize(x, 4).realize(out);
        CHECK(out(0).to_bits() == down);
        CHECK(out(1).to_bits() == up);
        CHECK(out(2).to_bits() == down);
        CHECK(out(3).to_bits() == (up | 0x8000));
    }
    Var x("x");
    Func constants("constants");
    constants(x) = mux(x, {cast<bfloat16_t>(Expr(half)), cast<bfloat16_t>(Expr(half + 1)),
                           cast<bfloat16_t>(Expr(half - 1)), cast<bfloat16_t>(Expr(-half - 1))});
    Buffer<bfloat16_t> out = constants.realize({4});
    CHECK(out(0).to_bits() == down);
    CHECK(out(1).to_bits() == up);
    CHECK(out(2).to_bits() == down);
    CHECK(out(3).to_bits() == (up | 0x8000));
}

/// Each has as many bits as the other, but not its numbers.
template <typename F, typename Other> static void check_there_and_back() {
    Buffer<F> all(65536);
    for (int i = 0; i < 65536; i++)
        all(i) = F::make_from_bits(static_cast<uint16_t>(i));
    Var x("x");
    Func f("f");
    f(x) = cast<F>(cast<Other>(all(x)));
    f.vectorize(x, 8);
    Buffer<F> back = f.realize({65536});
    int wrong = 0;
    for (int i = 0; i < 65536; i++) {
        F want(static_cast<float>(Other(static_cast<float>(all(i)))));
        wrong += want.is_nan() ? !back(i).is_nan() : back(i).to_bits() != want.to_bits();
    }
    CHECK(wrong == 0);
}

TEST_CASE("a cast to the other format of 16 bits and back rounds", "[float16]") {
    check_there_and_back<float16_t, bfloat16_t>();
    check_there_and_back<bfloat16_t, float16_t>();
}

template <typename F> static void check_arithmetic() {
    Var x("x"), y("y");
    auto value = [](int i) { return F(static_cast<float>(i) * 0.37f + 0.1f); };
    auto load = [](Expr i) { return cast<F>(cast<float>(i) * 0.37f + 0.1f); };
    auto close = [](F a, F b) { return a.to_bits() == b.to_bits(); };
    struct Op {
        Expr (*expr)(Expr, Expr);
        F (*number)(F, F);
    };
    const Op ops[] = {
        {[](Expr a, Expr b) { return a + b; }, [](F a, F b) { return a + b; }},
        {[](Expr a, Expr b) { return a - b; }, [](F a, F b) { return a - b; }},
        {[](Expr a, Expr b) { return a * b; }, [](F a, F b) { return a * b; }},
        {[](Expr a, Expr b) { return a / b; }, [](F a, F b) { return a / b; }},
        {[](Expr a, Expr b) { return min(a, b); }, [](F a, F b) { return a < b ? a : b; }},
        {[](Expr a, Expr b) { return select(a >= b, a, -b); },
         [](F a, F b) { return a >= b ? a : F(0.0f) - b; }},
        {[](Expr a, Expr b) { return cast(a.type(), sqrt(abs(a))) + b * 2; },
         [](F a, F b) { return F(std::sqrt(std::fabs(static_cast<float>(a)))) + b * F(2.0f); }},
    };
    for (const Op &op : ops)
        everywhere::check<F>(
            [&] {
                Func f("f");
                f(x, y) = op.expr(load(x), load(y));
                return f;
            },
            [&](int i, int j) { return op.number(value(i), value(j)); },
            [&](F a, F b) { return close(a, b); });
}

TEST_CASE("arithmetic of 16-bit floats rounds each result", "[float16]") {
    check_arithmetic<float16_t>();
    check_arithmetic<bfloat16_t>();
}

TEST_CASE("16-bit floats as constants, Params, images and types", "[float16]") {
    Var x("x");
    Param<float16_t> p("p");
    p.set(float16_t(1.5f));
    ImageParam image(Float(16), 1, "image");
    Buffer<float16_t> in(5);
    in.fill(float16_t(2.0f));
    image.set(in);
    Func f("f");
    f(x) = image(x) * p + float16_t(0.25f) + 1;
    CHECK(f.type() == Float(16));
    Buffer<float16_t> out = f.realize({5});
    CHECK(out(4) == float16_t(4.25f));
    CHECK(type_of<bfloat16_t>() == BFloat(16));
    CHECK(to_string(BFloat(16)) == "bfloat16");
    // As in Halide: of two types of the same width the second.
    CHECK((cast<float16_t>(x) + cast<bfloat16_t>(x)).type() == BFloat(16));
    CHECK((cast<bfloat16_t>(x) + cast<float16_t>(x)).type() == Float(16));
    CHECK((cast<float16_t>(x) + 1.0f).type() == Float(32));
    CHECK(float16_t(1.0f) < float16_t(2.0f));
    CHECK(float16_t::make_nan().is_nan());
    CHECK_FALSE(float16_t::make_nan() == float16_t::make_nan());
    CHECK(float16_t::make_infinity(false).is_negative());
    CHECK(float16_t::make_zero().is_zero());
    CHECK(bfloat16_t(3.0f).to_bits() == 0x4040);
    CHECK(static_cast<int>(float16_t(7)) == 7);
    using namespace ConciseCasts;
    CHECK(f16(x).type() == Float(16));
    CHECK(bf16(x).type() == BFloat(16));
    Func h("h"), b("b");
    h(x) = cast<float>(f16(x / 3.0f));
    b(x) = cast<float>(bf16(x / 3.0f));
    Buffer<float> halves = h.realize({33}), brains = b.realize({33});
    for (int i = 0; i < 33; i++) {
        CHECK(halves(i) == static_cast<float>(float16_t(static_cast<float>(i) / 3.0f)));
        CHECK(brains(i) == static_cast<float>(bfloat16_t(static_cast<float>(i) / 3.0f)));
    }
}

TEST_CASE("a sum of 16-bit floats", "[float16]") {
    Var x("x"), y("y");
    RDom r(0, 6, "r");
    everywhere::check<float16_t>(
        [&] {
            Func f("f");
            f(x, y) = sum(cast<float16_t>(r * 0.1f) + cast<float16_t>(x));
            return f;
        },
        [](int x, int) {
            float16_t sum;
            for (int i = 0; i < 6; i++)
                sum += float16_t(static_cast<float>(i) * 0.1f) + float16_t(x);
            return sum;
        });
}

// As in Halide, whose functions of bfloat16 are those of float.
TEST_CASE("functions of bfloat16 give float", "[float16]") {
    Var x("x");
    Expr b = cast<bfloat16_t>(x);
    for (const Expr &e : {sqrt(b), exp(b), floor(b), round(b), trunc(b), pow(b, 1.5f), atan2(b, b)})
        CHECK(e.type() == Float(32));
    CHECK(sqrt(cast<float16_t>(x)).type() == Float(16));
    Func f("f");
    f(x) = sqrt(b);
    CHECK(Buffer<float>(f.realize({8}))(7) == std::sqrt(7.f));
}
