#pragma once
// What is known about variables at a place of the program.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ir/linear.h"
#include "ir/scope.h"

namespace Pipe::ir {

/// All integers from lo to hi. The ends of int64 stand for infinity.
struct ConstantInterval {
    static constexpr int64_t minus_infinity = INT64_MIN, plus_infinity = INT64_MAX;
    int64_t lo = minus_infinity, hi = plus_infinity;

    static ConstantInterval everything() { return {}; }
    /// The values from lo to hi. As nothing is at least plus infinity, or at most minus infinity, an
    /// end that is the last int64 on the other side gives way by one.
    static ConstantInterval between(int64_t lo, int64_t hi) {
        return {lo == plus_infinity ? lo - 1 : lo, hi == minus_infinity ? hi + 1 : hi};
    }
    static ConstantInterval single(int64_t value) { return between(value, value); }
    /// The values that a lane of the type may have; no bounds for int32 and int64.
    static ConstantInterval of_type(Type type);

    bool has_lo() const { return lo != minus_infinity; }
    bool has_hi() const { return hi != plus_infinity; }
    bool is_single() const { return lo == hi; }
    bool empty() const { return lo > hi; }
    bool contains(int64_t value) const { return lo <= value && value <= hi; }
    bool within(const ConstantInterval &other) const { return lo >= other.lo && hi <= other.hi; }
    bool operator==(const ConstantInterval &) const = default;
};

// The smallest interval that holds every result; ends that leave int64 become infinite.
ConstantInterval operator+(const ConstantInterval &a, const ConstantInterval &b);
ConstantInterval operator-(const ConstantInterval &a, const ConstantInterval &b);
ConstantInterval operator*(const ConstantInterval &a, const ConstantInterval &b);
ConstantInterval hull(const ConstantInterval &a, const ConstantInterval &b);
ConstantInterval intersection(const ConstantInterval &a, const ConstantInterval &b);

/// Knowledge about the free variables of an expression: intervals of single variables, and bounds
/// on linear combinations ("y - x lies in [0, 7]"). Grows and is rewound like a stack. Facts may be
/// layered on outer facts, which are only read.
class Facts {
  public:
    Facts() = default;
    /// Everything that `outer` knows, and more to come. `outer` must outlive this and not change.
    explicit Facts(const Facts *outer) : outer_(outer) {}

    /// A bound on factor-free Σ coefficient * atom: no common factor, first coefficient positive.
    struct Relation {
        Linear sum;
        ConstantInterval bounds;
    };

    /// The variable lies in the interval (also: intersected with what is known already).
    void bound(const std::string &name, const ConstantInterval &interval);
    /// The condition holds: comparisons of int32 and int64, and conjunctions of them. Others are
    /// ignored.
    void assume(const Expr &condition);
    void assume_false(const Expr &condition);
    /// sum >= 0, for a sum of int32 or int64.
    void assume_non_negative(const Linear &sum);

    /// A place to go back to. Everything learned after it is then forgotten.
    size_t mark() const { return log_.size(); }
    void rewind(size_t mark);

    /// The interval of a variable, if anything is known.
    std::optional<ConstantInterval> find(const std::string &name) const;
    /// Calls f(relation) for all bounds on sums of two atoms or more, the newest first, a few dozen
    /// at most; f returns true to stop.
    template <typename F> void for_each_relation(F &&f) const {
        constexpr int enough = 48;
        int seen = 0;
        for (const Facts *facts = this; facts; facts = facts->outer_)
            for (auto r = facts->relations_.rbegin(); r != facts->relations_.rend(); ++r)
                if (++seen > enough || f(*r))
                    return;
    }

    bool mentions(const std::string &name) const;
    bool empty() const { return log_.empty() && (!outer_ || outer_->empty()); }

  private:
    const Facts *outer_ = nullptr;
    Scope<ConstantInterval> intervals_;
    std::vector<Relation> relations_;
    /// What was learned, in order: the name of a variable, or "" for a relation.
    std::vector<std::string> log_;
};

}  // namespace Pipe::ir
