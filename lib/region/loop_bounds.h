#pragma once
// LoopBounds: the largest value of an expression of lets and loop variables.

#include <functional>
#include <map>
#include <optional>
#include <string>

#include "region/interval.h"
#include "region/let_table.h"

namespace Pipe::region {

class LoopBounds {
  public:
    using RangeOfLoop = std::function<Range(const Level &)>;
    using RangesOfStage = std::function<std::map<std::string, Range>(const StageNest &)>;

    /// The table may be added to later.
    LoopBounds(const LoopTree &tree, const LetTable &lets, RangeOfLoop loop, RangesOfStage stage)
        : tree_(tree), lets_(lets), loop_range_(std::move(loop)), ranges_(std::move(stage)) {}

    /// The maximum of an int32 expression over lets and loop variables, if it is bounded by a constant
    /// (lets are expanded; a min() uses its better operand).
    std::optional<int64_t> upper_bound(const Expr &e) const;
    /// The maximum of an expression of the level `inner` over all iterations of the loops from `outer` to
    /// it. Undefined if it is unbounded.
    Expr greatest(const Expr &e, const Level &inner, const Level &outer) const;
    /// Whether the expression itself uses lets of levels inside `outer`, out to and with `inner`.
    bool uses_lets_between(const Expr &e, const Level &inner, const Level &outer) const;

  private:
    /// Of a loop that starts at 0 and has a constant extent.
    std::optional<int64_t> extent_of(const std::string &name) const;

    const LoopTree &tree_;
    const LetTable &lets_;
    RangeOfLoop loop_range_;
    RangesOfStage ranges_;
};

}  // namespace Pipe::region
