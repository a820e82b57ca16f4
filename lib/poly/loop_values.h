#pragma once
// The values that the loops of an update count through, after splits, fuses and renames.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "graph/graph.h"

namespace Pipe::poly {

/// The value of a loop in terms of the definition's variables; several, outermost first, if loops
/// are fused. Nothing: unknown.
using LoopValue = std::optional<std::vector<Expr>>;

class LoopValues {
  public:
    LoopValues(const graph::Stage &stage, const std::vector<schedules::Transform> &transforms);

    /// A pure loop has no value.
    LoopValue operator[](const std::string &loop) const;

  private:
    LoopValue take(const std::string &name);
    void move(const std::string &from, const std::string &to);
    void fuse(const schedules::Transform &t);
    void split(const schedules::Transform &t);

    std::map<std::string, LoopValue> values_;
};

/// The order in which the RVar loops of an update run. Final transforms that do not change the
/// order are undone: the two loops of a split that are directly nested run in the order of the
/// original loop.
struct LoopOrder {
    explicit LoopOrder(const schedules::StageSchedule &s);

    std::vector<std::string> loops;                ///< innermost first
    std::vector<schedules::Transform> transforms;  ///< the transforms that lead to them
};

}  // namespace Pipe::poly
