#pragma once
// The loops over the RVars of an update once its transforms are applied, and the RVars in terms of them.

#include <map>
#include <optional>
#include <ranges>
#include <set>
#include <string>
#include <vector>

#include "graph/graph.h"

namespace Pipe::graph {

class RvarLoops {
  public:
    /// An RVar of the definition, or a result of transforms.
    struct Node {
        std::string name;
        Expr min, extent;
        Expr value;  ///< in terms of the loops, by find_values()
        Expr guard;  ///< of splits: the condition that the value is in range; undefined = always
        bool is_loop = true;  ///< no transform has replaced it
    };

    explicit RvarLoops(const Stage &stage) : stage_(stage) {}

    /// Applies the transforms. If the result is false, `why` gives the reason.
    bool apply(const std::vector<schedules::Transform> &transforms, std::string *why);

    const std::vector<Node> &nodes() const { return nodes_; }
    /// In this order, a guard may rely on those before it: the guard of an inner split keeps the promise about the
    /// loop that was split, of which the guard of the outer split makes use.
    auto inner_first() const { return nodes_ | std::views::reverse; }
    /// The loop of that name; null if it is not one over RVars.
    const Node *loop(const std::string &name) const;
    const std::vector<schedules::Transform> &pure_transforms() const { return pure_transforms_; }

    /// The loops in the original order of the points, outermost last; nothing, with the reason, if a fusion changed it.
    std::optional<std::vector<std::string>> original_order(std::string *why) const;

    /// Sets Node::value and Node::guard, and returns the values of the definition's RVars. The loops `kept` become
    /// Vars, whose bounds may be larger than the loops'.
    std::map<std::string, Expr> find_values(const std::set<std::string> &kept);

  private:
    struct Step {
        const schedules::Transform *t;
        size_t old, outer, inner;  // nodes
    };

    const Stage &stage_;
    std::vector<Node> nodes_;  // first those of the definition
    std::map<std::string, size_t> current_;
    std::vector<Step> steps_;  // of RVars
    std::vector<schedules::Transform> pure_transforms_;

    size_t add(const std::string &name, const Expr &min, const Expr &extent);
    std::optional<size_t> take(const std::string &name);
    void split(const schedules::Transform &t, size_t old);
    void undo_split(const Step &s, const std::set<std::string> &kept);
};

}  // namespace Pipe::graph
