#pragma once
// Symbolic interval arithmetic: the values of an index.
//
// This analysis always gives a result. It is exact for indices that are affine in each variable
// separately (stencils, up- and downsampling, clamps) and conservative otherwise.

#include <string>
#include <utility>
#include <vector>

#include "ir/expr_node.h"
#include "ir/scope.h"

namespace Pipe::region {

/// All integers (or floats) between min and max, inclusive. An undefined end is unbounded.
struct Interval {
    Expr min, max;

    static Interval everything() { return {}; }
    static Interval point(const Expr &e) { return {e, e}; }
    bool bounded() const { return min.defined() && max.defined(); }
    bool is_point() const { return min.defined() && min.same_as(max); }
};

/// The range of one loop variable or pure variable: min and extent are int32 Exprs.
struct Range {
    Expr min, extent;
    Expr max() const { return ir::sub(ir::add(min, extent), ir::make_int(Int(32), 1)); }
};

/// One interval per dimension. Empty = no access.
using Box = std::vector<Interval>;

/// The smallest interval that contains both.
Interval hull(const Interval &a, const Interval &b);
Interval intersect(const Interval &a, const Interval &b);
/// Expands `box` to contain `other`.
void merge(Box &box, const Box &other);

/// The intervals of variables, and of other expressions (data) that are bounded by conditions.
class IntervalScope : public ir::Scope<Interval> {
  public:
    /// Adds the bound that `e`, which must have the same value at each occurrence, lies in the
    /// interval.
    void assume(const Expr &e, const Interval &interval);
    /// The bounds added for `e`.
    Interval known_bounds(const Expr &e) const;

  private:
    std::vector<std::pair<Expr, Interval>> known_;
};

/// The name of the interval of a Func's values in a scope.
std::string values_name(const std::string &func, int element);

/// The range of `e` when every variable of `scope` ranges over its interval. Other variables stand
/// for themselves. The result has e's type.
Interval bounds_of(const Expr &e, const IntervalScope &scope);

/// A number as an end of an interval; undefined, which is no end, if the type cannot represent it. Ranges that
/// are computed in wide arithmetic may begin before the least number of a type, which bounds nothing.
Expr constant_end(Type type, int64_t number);

/// min/max, simplified if the operands differ by a constant.
Expr lesser(const Expr &a, const Expr &b);
Expr greater(const Expr &a, const Expr &b);

}  // namespace Pipe::region
