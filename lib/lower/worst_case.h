#pragma once
// Conditions for an inequality to hold in a whole iteration of a loop, for all inner iterations and
// lanes.

#include <optional>
#include <string>
#include <vector>

#include "ir/linear.h"
#include "ir/scope.h"

namespace Pipe::lower {

/// A name bound inside the loop: a let or the variable of an inner loop.
struct Inner {
    Expr value;     ///< let: its value
    Expr min, max;  ///< loop: its range, inclusive
    int depth =
        0;  ///< how many loops deep the value may change: 0 = the loop in question, 1 = inside it
    bool is_affected =
        false;  ///< whether it differs from what it was before the steady state decided something
};

/// Reduces inequalities to bounds on the loop variable alone. Sound, not complete.
class WorstCase {
  public:
    /// The loop variable ranges over [min, max]; `inner` are the names bound inside the loop so
    /// far.
    WorstCase(Expr variable, const Expr &min, const Expr &max, const ir::Scope<Inner> &inner);

    /// c * variable + (loop-invariant terms) >= 0, c != 0
    using Bound = ir::Linear;

    /// Bounds that together imply `sum >= 0` for all values of inner loop variables and lanes.
    /// Empty: always true. Nothing: none found, or never true.
    std::optional<std::vector<Bound>> bounds(const ir::Linear &sum);

    /// The same sum with lets, casts and exact quotients expanded.
    ir::Linear expanded(const Expr &e) const;

    /// The loop depth at which e varies: -1 = not in this loop. Nothing if it depends on memory.
    std::optional<int> depth(const Expr &e) const;

    /// The sum in the first and in the last iteration of the loop.
    ir::Linear at_first(const Bound &bound) const { return at(bound, min_); }
    ir::Linear at_last(const Bound &bound) const { return at(bound, max_); }
    int64_t factor(const Bound &bound) const { return bound.coefficient(variable_); }

    /// The minimum or maximum of the variable for which the bound holds.
    Expr solve(const Bound &bound) const;

  private:
    using Bounds = std::vector<Bound>;
    Expr meaning(const Expr &atom) const;
    std::optional<ir::Linear> quotient_of(const Expr &atom) const;
    ir::Linear divided(const ir::Linear &sum) const;
    bool reduce(ir::Linear sum, Bounds *out);
    bool finish(ir::Linear sum, Bounds *out);
    int rank(const Expr &atom) const;
    bool replace(const ir::Linear &sum, size_t term, Bounds *out);
    bool replace_variable(const ir::Linear &sum, const ir::Linear::Term &t, Bounds *out);
    bool replace_division(ir::Linear sum, const ir::Linear::Term &t, Bounds *out);
    bool every(const ir::Linear &sum, const Expr &a, const Expr &b, int64_t factor, Bounds *out);
    bool either(const ir::Linear &sum, const Expr &a, const Expr &b, int64_t factor, Bounds *out);
    bool with(ir::Linear sum, const Expr &e, int64_t factor, Bounds *out);
    ir::Linear at(const Bound &bound, const Expr &value) const;
    Expr outside(const Expr &e) const;

    const Expr variable_, min_, max_;
    const ir::Scope<Inner> &inner_;
    int effort_ = 0;
};

}  // namespace Pipe::lower
