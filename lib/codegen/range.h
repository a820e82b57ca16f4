#pragma once
// Value ranges of integer expressions: cheap facts for instruction selection.

#include <cstdint>
#include <functional>
#include <string>

#include "ir/expr_node.h"

namespace Pipe::codegen {

/// The value lies in [lo, hi], in every lane.
struct Range {
    int64_t lo = INT64_MIN;
    int64_t hi = INT64_MAX;

    bool non_negative() const { return lo >= 0; }
};

/// All values of a type.
Range range_of_type(Type type);

/// The range of an integer expression; `variable` gives the ranges of variables. Examines only a
/// few levels, so that the cost is constant.
Range range_of(const Expr &e, const std::function<Range(const ir::ExprNode &)> &variable);

/// The largest power of two (at most `most`) that is known to divide a scalar integer.
int64_t known_factor(const Expr &e, int64_t most);

}  // namespace Pipe::codegen
