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

/// The ranges of names: iterators, "<image>.extent.<d>", scalar parameters.
using Environment = std::unordered_map<std::string, Range>;

/// The range of an integer expression whose variables range over intervals, by interval arithmetic:
/// never too small, often too large. Unknown names and loaded values range over their whole type if
/// that has at most 16 bits, else they are unbounded.
Range range_of(const Expr &e, const Environment &names);

}  // namespace Pipe::poly
