#pragma once
// The bounds on a loop's variable under which its steady state decided conditions (steady_state.cpp).

#include <cstdint>
#include <optional>
#include <vector>

#include "lower/steady_state.h"
#include "lower/worst_case.h"

namespace Pipe::lower {

/// The outcome of a condition that is wanted in the steady state. Either: it chooses an arm, of which none is likely.
enum class Want : uint8_t { True, False, Any, Either };

inline Want opposite(Want want) {
    return want == Want::True ? Want::False : want == Want::False ? Want::True : want;
}

/// What deciding a condition saves. Nothing, where it holds in all iterations and did so before anything was decided.
struct Gain {
    int saved = 0;
    bool is_affected = false;  ///< by what was decided before
};

/// Collects them while the body is rewritten. Each is a sum that is at least 0 in the steady state.
class NotedBounds {
  public:
    NotedBounds(WorstCase &worst, const Rest &known) : worst_(worst), known_(known) {}

    bool empty() const { return bounds_.empty(); }
    /// The first and the last iteration of the steady state, where a bound limits them; else unchanged.
    void limit(Expr &first, Expr &last) const;

    /// True if sum >= 0 always, or for iterations that are noted now, in which `gain` is saved. (What always holds
    /// was simplified before, unless it follows from what took the place of a let.)
    bool assume(const ir::Linear &sum, const Gain &gain);

    /// Whether sum >= 0 follows from what is noted; `gain` is saved then, too. A condition may occur again with
    /// the opposite outcome wanted, as in the mask of a load in the arm not taken: in no iteration both hold.
    bool follows(const ir::Linear &sum, const Gain &gain);

    /// Whether `sum >= 0` is the rule rather than the exception: what holds for a constant number of
    /// iterations at the loop's start or end is an exception. Any: cannot tell.
    Want rule(const ir::Linear &sum) const;

    /// The outcome to assume of a comparison, which is `sum >= 0`, if `want` is wanted of it: the known one, if any.
    Want usual(const Expr &comparison, Want want, const ir::Linear &sum) const;
    /// What is known of a comparison that chose another arm in the steady state before.
    std::optional<bool> known_outcome(const Expr &comparison) const;
    /// Notes that a comparison chooses an arm, with this outcome if sum >= 0, which was assumed. Not if the other
    /// outcome is known, or is that of a few iterations only, which are not worth a loop of their own.
    void note_choice(const Expr &comparison, bool outcome, const ir::Linear &sum);
    /// What is known of the iterations before the first one of the steady state (or after the last one).
    Rest rest(bool before) const;

  private:
    struct Choice {
        Expr comparison;
        bool outcome;
        ir::Linear bound;
    };

  public:
    /// What is noted at one time.
    struct Notes {
        int saved;
        std::vector<ir::Linear> bounds;
        std::vector<Choice> choices;
    };
    Notes notes() const { return {saved, bounds_, choices_}; }
    void forget_since(Notes notes) {
        saved = notes.saved;
        bounds_ = std::move(notes.bounds);
        choices_ = std::move(notes.choices);
    }

    /// What the decisions save in one iteration, in instructions of a lane.
    int saved = 0;
    int decided = 0;  ///< conditions
    /// Assumes nothing but what holds in all iterations.
    bool only_always = false;

  private:
    void count(const Gain &gain, bool always) {
        const bool is_new = !always || gain.is_affected;
        saved += is_new ? gain.saved : 0;
        decided += is_new ? 1 : 0;
    }

    WorstCase &worst_;
    const Rest &known_;
    std::vector<ir::Linear> bounds_;
    std::vector<Choice> choices_;

    void note(ir::Linear bound);
    bool fails_rarely(const ir::Linear &bound) const;
    bool limits(const ir::Linear &bound, bool first) const {
        return (worst_.factor(bound) > 0) == first;
    }
};

}  // namespace Pipe::lower
