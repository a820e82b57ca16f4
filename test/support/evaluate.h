#pragma once
// A scalar evaluator of expressions for the tests: slow, direct, independent of lib/ir's folding.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ir/expr_node.h"

namespace test {

/// A lane of any type. Integers in `i` (uint64 by bit pattern), floats in `f`.
struct Value {
    int64_t i = 0;
    double f = 0;
};

using Lanes = std::vector<Value>;
using Environment = std::map<std::string, Lanes>;

/// Nothing, if int32 or int64 arithmetic overflows (its result has no meaning then).
std::optional<Lanes> evaluate(const Pipe::Expr &e, const Environment &variables);

/// The same as a processor computes it: such arithmetic wraps. (Nothing where a float is converted to an
/// integer that it is not.)
std::optional<Lanes> evaluate_wrapping(const Pipe::Expr &e, const Environment &variables);

/// Bit by bit; a NaN equals a NaN.
bool same(Pipe::Type type, const Lanes &a, const Lanes &b);

}  // namespace test
