#pragma once
// Symbolic intervals: what values an index can take.
//
// This is the arithmetic that always has an answer. It is exact for indices that are affine in each
// variable by itself (stencils, up- and down-sampling, clamps) and conservative elsewhere.

#include <string>
#include <vector>

#include <string>
#include <utility>
#include <vector>

#include "ir/expr_node.h"
#include "ir/scope.h"

namespace Pipe::region {

/// All integers (or floats) between min and max, both included. An undefined end is unbounded.
struct Interval {
    Expr min, max;

    static Interval everything() { return {}; }
    static Interval point(const Expr &e) { return {e, e}; }
    bool bounded() const { return min.defined() && max.defined(); }
    bool is_point() const { return min.defined() && min.same_as(max); }
};

/// One interval per dimension. Empty = nothing is touched.
using Box = std::vector<Interval>;

/// Smallest interval that holds both.
Interval hull(const Interval &a, const Interval &b);
Interval intersect(const Interval &a, const Interval &b);
/// Grows `box` to hold `other` too.
void merge(Box &box, const Box &other);

/// What the names at a place stand for, and what conditions say there of other expressions: of data.
class IntervalScope : public ir::Scope<Interval> {
  public:
    /// From here on `e`, which must give the same value each time, lies in the interval too.
    void say(const Expr &e, const Interval &interval);
    /// What was said of it.
    Interval said_of(const Expr &e) const;

  private:
    std::vector<std::pair<Expr, Interval>> said_;
};

/// The name under which a scope says what values a Func has.
std::string values_name(const std::string &func, int element);

/// The values that `e` takes when every variable of `scope` ranges over its interval. Variables that are
/// not in the scope stand for themselves. The result is in e's type.
Interval bounds_of(const Expr &e, const IntervalScope &scope);

/// min/max that decide between operands of a constant distance.
Expr lesser(const Expr &a, const Expr &b);
Expr greater(const Expr &a, const Expr &b);

}  // namespace Pipe::region
