#pragma once
// The bounds on a loop's variable under which its steady state decided conditions (steady_state.cpp).

#include <cstdint>
#include <vector>

#include "lower/worst_case.h"

namespace Pipe::lower {

/// The outcome of a condition that is wanted in the steady state.
enum class Want : uint8_t { True, False, Any };

inline Want opposite(Want want) {
    return want == Want::Any ? Want::Any : want == Want::True ? Want::False : Want::True;
}

/// Collects them while the body is rewritten. Each is a sum that is at least 0 in the steady state.
class NotedBounds {
  public:
    explicit NotedBounds(WorstCase &worst) : worst_(worst) {}

    bool empty() const { return bounds_.empty(); }
    /// The first and the last iteration of the steady state, where a bound limits them; else unchanged.
    void limit(Expr &first, Expr &last) const;

    /// True if sum >= 0 always, or for iterations that are noted now, in which `gain` is saved. (What always holds
    /// was simplified before, unless it follows from what took the place of a let.)
    bool assume(const ir::Linear &sum, int gain);

    /// Whether sum >= 0 follows from what is noted; `gain` is saved then, too. A condition may occur again with
    /// the opposite outcome wanted, as in the mask of a load in the arm not taken: in no iteration both hold.
    bool follows(const ir::Linear &sum, int gain);

    /// Whether `sum >= 0` is the rule rather than the exception: what holds for a constant number of
    /// iterations at the loop's start or end is an exception. Any: cannot tell.
    Want rule(const ir::Linear &sum) const;

    /// What the decisions save in one iteration, in instructions of a lane.
    int saved = 0;

  private:
    WorstCase &worst_;
    std::vector<ir::Linear> bounds_;

    std::vector<ir::Linear>::iterator noted_like(const ir::Linear &bound);
    void note(ir::Linear bound);
};

}  // namespace Pipe::lower
