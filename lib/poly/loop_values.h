#pragma once
// What the loops of an update count, after splits, fuses and renames.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "graph/graph.h"

namespace Pipe::poly {

/// The value of a loop in terms of the definition's variables: several that count in order, the
/// outermost first, where loops are fused. Nothing: not known.
using LoopValue = std::optional<std::vector<Expr>>;

class LoopValues {
  public:
    LoopValues(const graph::Stage &stage, const std::vector<schedules::Transform> &transforms);

    /// A pure loop has no values.
    LoopValue operator[](const std::string &loop) const;

  private:
    LoopValue take(const std::string &name);
    void move(const std::string &from, const std::string &to);
    void fuse(const schedules::Transform &t);
    void split(const schedules::Transform &t);

    std::map<std::string, LoopValue> values_;
};

/// The order in which the loops over RVars of an update run. The last transforms that change no order are
/// undone: the two loops of a split that stand one around the other run as the loop that was split.
struct LoopOrder {
    explicit LoopOrder(const schedules::StageSchedule &s);

    std::vector<std::string> loops;                ///< innermost first
    std::vector<schedules::Transform> transforms;  ///< what made them of the update's variables
};

}  // namespace Pipe::poly
