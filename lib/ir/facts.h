#pragma once
// Facts about variables at a point of the program.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ir/constant_interval.h"
#include "ir/linear.h"
#include "ir/scope.h"

namespace Pipe::ir {

/// Facts about the free variables of an expression: intervals of single variables, and bounds on
/// linear combinations ("y - x lies in [0, 7]"). Facts are added and rewound like a stack. They may
/// be layered on outer facts, which are only read.
class Facts {
  public:
    Facts() = default;
    /// Extends `outer`, which must outlive this object and not change.
    explicit Facts(const Facts *outer) : outer_(outer) {}

    /// A bound on factor-free Σ coefficient * atom: no common factor, first coefficient positive.
    struct Relation {
        Linear sum;
        ConstantInterval bounds;
    };

    /// The variable lies in the interval (intersected with what is already known).
    void bound(const std::string &name, const ConstantInterval &interval);
    /// The condition is true. Used are comparisons of int32 and int64, and conjunctions of them;
    /// others are ignored.
    void assume(const Expr &condition);
    void assume_false(const Expr &condition);
    /// sum >= 0, for a sum of int32 or int64.
    void assume_non_negative(const Linear &sum);

    /// A position to rewind to, which forgets everything added after it.
    size_t mark() const { return log_.size(); }
    void rewind(size_t mark);

    /// The interval of a variable, if anything is known.
    std::optional<ConstantInterval> find(const std::string &name) const;
    /// Calls f(relation) for bounds on sums of two atoms or more, the newest first, limited to a
    /// few dozen; f returns true to stop.
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
    /// The facts in the order in which they were added: the name of a variable, or "" for a
    /// relation.
    std::vector<std::string> log_;
};

}  // namespace Pipe::ir
