#pragma once
// Rounding to 16-bit floats, by search, and evaluating in all ways that there are.

#include <cmath>
#include <cstdint>
#include <functional>
#include <vector>

#include <catch2/catch_test_macros.hpp>

#include "support/targets.h"
#include <pipe/pipe.h>

namespace Pipe::testing {

/// The nearest number of the format F to the value: of all that there are, halves to even. The value may be
/// a sum whose second part, `rest`, is too small for a long double.
template <typename F> uint16_t nearest(long double value, long double rest = 0) {
    if (std::isnan(value))
        return F::make_nan().to_bits();
    auto number = [](int bits) {
        return static_cast<long double>(
            static_cast<double>(F::make_from_bits(static_cast<uint16_t>(bits))));
    };
    const bool negative = std::signbit(value);
    const auto sign = static_cast<uint16_t>(negative ? 0x8000 : 0);
    const long double size = std::fabs(value);
    int low = 0, high = F::make_infinity().to_bits();
    const int infinity = high;
    while (high - low > 1) {  // low <= size < high
        int middle = (low + high) / 2;
        (number(middle) <= size ? low : high) = middle;
    }
    if (std::isinf(size))
        return static_cast<uint16_t>(sign | high);
    const long double below = number(low);
    const long double above = high == infinity
                                  ? below + (below - number(low - 1))  // as if it went on
                                  : number(high);
    const long double middle = below + (above - below) / 2;
    const long double beyond = negative ? -rest : rest;
    bool up = size > middle || (size == middle && (beyond > 0 || (beyond == 0 && (low & 1))));
    return static_cast<uint16_t>(sign | (up ? high : low));
}

/// All there are.
template <typename F> Buffer<F> all_numbers() {
    Buffer<F> all(65536);
    for (int i = 0; i < 65536; i++)
        all(i) = F::make_from_bits(static_cast<uint16_t>(i));
    return all;
}

/// A way of evaluating: one lane is no vector; none, the reference.
struct Way {
    Target target;
    int lanes;
};

inline std::vector<Way> ways() {
    const std::vector<Target> targets = runnable_targets();
    const Target least = targets.back().without_feature(Target::F16C).without_feature(Target::FMA);
    return {{targets[0], 16}, {targets[0], 1}, {least, 8}, {targets[0], 0}};
}

/// Evaluates `value`, an Expr of x in [0, n), in all ways; check(i, got, how) looks at each result.
template <typename R>
void evaluate_in_all_ways(int n, const std::function<Expr(Var)> &value,
                          const std::function<bool(int, R)> &right) {
    for (const Way &way : ways()) {
        Var x("x");
        Func f("f");
        f(x) = value(x);
        REQUIRE(f.type() == type_of<R>());
        if (way.lanes > 1)
            f.vectorize(x, way.lanes, TailStrategy::GuardWithIf);
        Buffer<R> out(n);
        if (way.lanes == 0)
            f.realize_reference(Realization(out));
        else
            f.realize(out, way.target);
        int wrong = 0, first = 0;
        for (int i = 0; i < n; i++)
            if (!right(i, out(i)) && wrong++ == 0)
                first = i;
        INFO(way.lanes << " lanes, " << way.target.to_string() << ", first of " << wrong << ": "
                       << first << ", " << static_cast<double>(out(first)));
        CHECK(wrong == 0);
    }
}

}  // namespace Pipe::testing
