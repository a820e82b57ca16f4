#pragma once
// Integer operations of two operands against a formula: all pairs of 8-bit values, the corners of wider types,
// compiled for the host and for lesser machines, in vectors and not, and evaluated by the reference.

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include <catch2/catch_test_macros.hpp>

#include "support/everywhere.h"
#include "support/targets.h"
#include <pipe/pipe.h>

namespace integer_pairs {

using namespace Pipe;
using Wide = __int128;

template <typename T> T clamped(Wide value) {
    Wide low = std::numeric_limits<T>::min(), high = std::numeric_limits<T>::max();
    return static_cast<T>(std::clamp(value, low, high));
}

inline Wide floor_shift(Wide value, int amount) {
    return amount > 120 ? (value < 0 ? -1 : 0) : value >> amount;
}

/// Rounded to nearest, halves up.
inline Wide round_shift(Wide value, int amount) {
    if (amount == 0)
        return value;
    if (amount < 0)
        return value * (Wide{1} << std::min(-amount, 60));
    return floor_shift(value + (Wide{1} << std::min(amount - 1, 120)), std::min(amount, 121));
}

/// Values of T worth a look; all of them where there are few.
template <typename T> std::vector<T> samples() {
    std::vector<T> values;
    using L = std::numeric_limits<T>;
    if constexpr (sizeof(T) == 1) {
        for (int i = L::min(); i <= L::max(); i++)
            values.push_back(static_cast<T>(i));
        return values;
    }
    for (unsigned i = 0; i < 6; i++) {  // unsigned: what overflows wraps
        values.push_back(static_cast<T>(L::min() + static_cast<T>(i)));
        values.push_back(static_cast<T>(L::max() - static_cast<T>(i)));
        values.push_back(static_cast<T>(i));
        values.push_back(static_cast<T>(0 - i));
        values.push_back(static_cast<T>(static_cast<uint64_t>(L::max() / 3) * i + i));
    }
    return values;
}

enum class How { Naive, Vector, OddVector, Reference };

/// One way of evaluating.
struct Way {
    How how;
    Target target;
};

inline std::vector<Way> ways() {
    const std::vector<Target> targets = testing::runnable_targets();
    std::vector<Way> result;
    for (How how : {How::Naive, How::Vector, How::OddVector, How::Reference})
        result.push_back({how, targets[0]});
    for (size_t i = 1; i < targets.size(); i++)
        result.push_back({How::Vector, targets[i]});
    return result;
}

/// `op` of Exprs is `expected` of numbers: on all pairs of samples, and on parts of them that begin
/// elsewhere, a single pair among them.
template <typename R, typename T, typename U = T, typename Op, typename Expected>
void check_pairs(const char *name, const Op &op, const Expected &expected) {
    std::vector<T> lefts = samples<T>();
    std::vector<U> rights = samples<U>();
    const auto columns = static_cast<int>(lefts.size());
    const auto rows = static_cast<int>(rights.size());
    Buffer<T> a(columns);
    Buffer<U> b(rows);
    for (int i = 0; i < columns; i++)
        a(i) = lefts[static_cast<size_t>(i)];
    for (int i = 0; i < rows; i++)
        b(i) = rights[static_cast<size_t>(i)];
    const everywhere::Shape shapes[] = {{columns, rows, 0, 0}, {1, 1, 7, 3}, {13, 7, 5, 11}};
    for (const auto &[how, target] : ways()) {
        Var x("x"), y("y");
        Func f("f");
        f(x, y) = op(Expr(a(x)), Expr(b(y)));
        CHECK(f.type() == type_of<R>());
        if (how == How::Vector)
            f.vectorize(x, 32, TailStrategy::GuardWithIf).parallel(y);
        if (how == How::OddVector)
            f.vectorize(x, 5, TailStrategy::GuardWithIf);
        for (auto [width, height, left, top] : shapes) {
            Buffer<R> out(width, height);
            out.set_min(left, top);
            if (how == How::Reference)
                f.realize_reference(Realization(out));
            else
                f.realize(out, target);
            int wrong = 0;
            std::string first;
            out.for_each_element([&](int i, int j) {
                R want = expected(a(i), b(j));
                if (out(i, j) != want && wrong++ == 0)
                    first = std::to_string(a(i)) + ", " + std::to_string(b(j)) + ": " +
                            std::to_string(out(i, j)) + " instead of " + std::to_string(want);
            });
            INFO(name << " of " << to_string(type_of<T>()) << ", schedule " << static_cast<int>(how)
                      << ", " << target.to_string() << ", " << width << " x " << height << ": "
                      << first);
            CHECK(wrong == 0);
        }
    }
}

}  // namespace integer_pairs
