#pragma once
// Ranges of integers, and interval arithmetic on index expressions as a fallback for the polyhedral
// analysis.

#include <cstdint>
#include <string>
#include <unordered_map>

#include "ir/expr_node.h"
#include "support/integers.h"

namespace Pipe::poly {

/// All integers from min to max, inclusive. Ends at or beyond `infinite` mean "unbounded"; min >
/// max means empty.
struct Range {
    static constexpr int64_t infinite = int64_t(1) << 60;
    int64_t min = -infinite;
    int64_t max = infinite;

    static Range point(int64_t value) { return {value, value}; }
    static Range empty() { return {1, 0}; }
    bool is_empty() const { return min > max; }
    bool is_point() const { return min == max; }
    bool bounded() const { return min > -infinite && max < infinite; }
    /// Number of integers; `infinite` if unbounded.
    int64_t size() const { return is_empty() ? 0 : bounded() ? max - min + 1 : infinite; }
    bool operator==(const Range &) const = default;
};

Range hull(const Range &a, const Range &b);
Range intersect(const Range &a, const Range &b);
Range operator+(const Range &a, const Range &b);
Range operator*(const Range &a, int64_t factor);
Range product(const Range &a, const Range &b);
/// Of a division as expressions have it: the remainder is not negative, and x / 0 = x % 0 = 0. Divisors
/// that are not single values give an unbounded quotient.
Range quotient(const Range &a, const Range &b);
Range remainder(const Range &a, const Range &b);
Range smaller(const Range &a, const Range &b);
Range larger(const Range &a, const Range &b);
/// What an integer type of at most 16 bits can hold; all numbers for other types.
Range range_of(Type type);
/// What numbers in `range` become in an integer type, where those beyond its ends wrap.
Range fitted(const Range &range, Type type);

/// What names stand for: iterators, "<image>.extent.<d>", scalar parameters, values of Funcs (value_name).
using Environment = std::unordered_map<std::string, Range>;

/// The name that all values of a tuple element of a Func have.
std::string value_name(const std::string &func, int element);

/// The values that an integer expression takes while its variables run over their ranges, by interval
/// arithmetic: never too small, often too large. Unknown names and values that are loaded range over
/// what their type can hold if that is at most 16 bits, else they are unbounded.
Range range_of(const Expr &e, const Environment &names);

}  // namespace Pipe::poly
