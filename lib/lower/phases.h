#pragma once
// Phases: recognizes expressions of a vectorized loop that are periodic in the lane, as in
// upsampling, interleaving and deinterleaving:
//
//     select(x % 2 == 0, a[x / 2], b[x / 2])        x = x0 + {0, .., 7}
//
// As a vector over x, this is two gathers and a select. Split into two phases, x = x0 + {0, 2, 4,
// 6} and x = x0 + {1, 3, 5, 7}, each quotient is evenly spaced, each remainder is uniform, and the
// loads are dense:
//
//     interleave(a[ramp(x0 / 2, 1, 4)], b[ramp((x0 + 1) / 2, 1, 4)])                  (for an even x0)

#include <functional>
#include <optional>
#include <string>
#include <unordered_map>

#include "ir/expr_node.h"

namespace Pipe::lower {

/// Analyzes the expressions in a vectorized loop.
class Phases {
  public:
    /// \param step_of  the difference of a variable between adjacent lanes; nothing if it is not constant, and
    ///                 for buffers with one copy per lane: expressions that contain them are not split
    explicit Phases(std::function<std::optional<int64_t>(const std::string &)> step_of)
        : step_of_(std::move(step_of)) {}

    /// The number of phases into which to split `e`: 1 if splitting is not useful, in particular if
    /// a load is already dense.
    int of(const Expr &e);
    /// Whether a part of `e` must not be split into phases.
    bool keeps_whole(const Expr &e) { return known(e).whole; }
    /// Discards results, because names may be rebound.
    void forget() { known_.clear(); }

  private:
    /// How an integer changes between lanes: every `period` lanes by exactly `step`. If it is
    /// clamped, this holds in the unclamped range.
    struct Advance {
        int64_t period = 0;  ///< 0: unknown
        int64_t step = 0;
    };
    struct Periods {
        Expr kept;  ///< keeps the node, whose address is the key, alive
        Advance advance;
        int64_t phases = 1;   ///< number required by its loads and conditions
        bool useful = false;  ///< some of them require more than one
        bool whole = false;   ///< some part should not be split
    };

    const Periods &known(const Expr &e);
    Periods make(const Expr &e);
    void note_load(Periods &result, const ir::ExprNode &e);
    Advance advance(const ir::ExprNode &e);
    Advance divided(const ir::ExprNode &e);
    Advance same_of_all(const ir::ExprNode &e);

    const std::function<std::optional<int64_t>(const std::string &)> step_of_;
    std::unordered_map<const ir::ExprNode *, Periods> known_;
};

}  // namespace Pipe::lower
