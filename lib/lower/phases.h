#pragma once
// Phases: which expressions of a vectorized loop repeat with a period, as those of pictures that are made
// larger, put together from planes or taken apart do:
//
//     select(x % 2 == 0, a[x / 2], b[x / 2])        x = x0 + {0, .., 7}
//
// As a vector over x it is two gathers and a select. Taken apart into two phases, x = x0 + {0, 2, 4, 6} and
// x = x0 + {1, 3, 5, 7}, each of its quotients advances evenly, each of its remainders is the same in all
// lanes, and the loads are dense:
//
//     interleave(a[ramp(x0 / 2, 1, 4)], b[ramp((x0 + 1) / 2, 1, 4)])                  (for an even x0)

#include <functional>
#include <optional>
#include <string>
#include <unordered_map>

#include "ir/expr_node.h"

namespace Pipe::lower {

/// Of the expressions within a vectorized loop.
class Phases {
  public:
    /// \param step_of  by how much a variable differs from one lane to the next; nothing where that is not the same
    ///                 for all, and for buffers with an element per lane: what they are in stays whole
    explicit Phases(std::function<std::optional<int64_t>(const std::string &)> step_of)
        : step_of_(std::move(step_of)) {}

    /// Into how many phases to take `e`: 1 where that is of no use, which includes all that loads something
    /// densely as it is.
    int of(const Expr &e);
    /// Whether something in `e` cannot be taken into phases.
    bool keeps_whole(const Expr &e) { return known(e).whole; }
    /// Names may mean something else from now on.
    void forget() { known_.clear(); }

  private:
    /// How an integer changes from lane to lane: in `period` of them by `step`, exactly. Where it is
    /// clamped, as long as it is not.
    struct Advance {
        int64_t period = 0;  ///< 0: not known
        int64_t step = 0;
    };
    struct Known {
        Expr kept;  ///< so that its address stays its own
        Advance advance;
        int64_t phases = 1;   ///< that its loads and conditions want
        bool useful = false;  ///< some of them want more than one
        bool whole = false;   ///< something in it is best left whole
    };

    const Known &known(const Expr &e);
    Known make(const Expr &e);
    void note_load(Known &result, const ir::ExprNode &e);
    Advance advance(const ir::ExprNode &e);
    Advance divided(const ir::ExprNode &e);
    Advance same_of_all(const ir::ExprNode &e);

    const std::function<std::optional<int64_t>(const std::string &)> step_of_;
    std::unordered_map<const ir::ExprNode *, Known> known_;
};

}  // namespace Pipe::lower
