#pragma once
// Symbolic intervals: what values an index can take, and which box of a Func or image is touched.
//
// This is the arithmetic that always has an answer. It is exact for indices that are affine in each
// variable by itself (stencils, up- and down-sampling, clamps) and conservative elsewhere.

#include <map>
#include <string>
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

using IntervalScope = ir::Scope<Interval>;

/// The name under which a scope says what values a Func has.
std::string values_name(const std::string &func, int element);

/// The values that `e` takes when every variable of `scope` ranges over its interval. Variables that are
/// not in the scope stand for themselves. The result is in e's type.
Interval bounds_of(const Expr &e, const IntervalScope &scope);

/// What the calls below an expression touch: box per Func or image name.
using Touched = std::map<std::string, Box>;

/// Adds to `touched` every Call Func and Call Image of `e`, which is evaluated where `condition` holds
/// (undefined = everywhere; `scope` is narrowed by it already). Arms of a select see the variables
/// narrowed by their condition. An index in which several variables stand as in a condition, as x + y
/// in `x + y < n`, is bounded by it too.
void add_touched(const Expr &e, const IntervalScope &scope, Touched &touched,
                 const Expr &condition = Expr());

/// `scope` with the variables narrowed to where `condition` can hold: every comparison of the
/// conjunction that is affine in a variable.
IntervalScope narrowed(const IntervalScope &scope, const Expr &condition, bool holds = true);

/// min/max that decide between operands of a constant distance.
Expr lesser(const Expr &a, const Expr &b);
Expr greater(const Expr &a, const Expr &b);

}  // namespace Pipe::region
