#include "autoschedule/inlining.h"

#include <algorithm>

namespace Pipe::autoschedule {

using poly::Access;
using poly::Coordinate;

namespace {

constexpr size_t most_loads = 64;  ///< per iteration; beyond this, there is heavy register spilling

bool can_inline(const StageGraph &graph, int n) {
    const Node &node = graph.nodes[static_cast<size_t>(n)];
    return !node.inlined && node.role == Role::Free && !node.is_output && !node.has_updates() &&
           !node.on_host && !node.consumers.empty();
}

bool is_copy(const Node &node) {
    return node.stages[0].arithmetic.total() == 0 && node.stages[0].loads.size() <= 1;
}

/// The reader walks along the innermost dimension as the producer does, so that vectors stay vectors; or an RVar
/// of it does.
bool read_along_rows(const Access &load) {
    if (load.coords.empty())
        return true;
    const Coordinate &x = load.coords[0];
    if (x.follows >= 0)
        return true;  // a sum along the rows
    return x.iterator == 0 && x.num == 1 && x.den == 1 && x.distance.bounded();
}

struct Uses {
    double evaluations = 0;  ///< of the producer's definition, over all consumers
    double loads = 0;  ///< distinct elements of it that one point of a consumer reads, at most
    bool along_rows =
        true;  ///< or the producer reads nothing: a formula has vectors at any coordinates
};

Uses uses_of(const StageGraph &graph, int n) {
    Uses uses;
    const Node &node = graph.nodes[static_cast<size_t>(n)];
    for (int c : node.consumers) {
        const Node &consumer = graph.nodes[static_cast<size_t>(c)];
        for (const StageCost &stage : consumer.stages) {
            double count = 0;
            for (const Access &load : stage.loads) {
                if (load.func != node.id)
                    continue;
                count++;
                uses.along_rows &= node.stages[0].loads.empty() || read_along_rows(load);
            }
            uses.loads = std::max(uses.loads, count);
            uses.evaluations += count * consumer.iterations(stage);
        }
    }
    return uses;
}

bool is_free_of_cost(const StageGraph &graph, int n) {
    const Node &node = graph.nodes[static_cast<size_t>(n)];
    if (is_copy(node))
        return true;
    const Uses uses = uses_of(graph, n);
    return uses.along_rows && uses.evaluations <= 1.05 * node.points() &&
           fits_after_substitute(graph, n, most_loads);
}

}  // namespace

void inline_free_of_cost(StageGraph &graph) {
    bool changed = true;
    while (changed) {
        changed = false;
        for (size_t n = graph.nodes.size(); n-- > 0;) {
            const int node = static_cast<int>(n);
            if (!can_inline(graph, node) || !is_free_of_cost(graph, node))
                continue;
            substitute(graph, node);
            changed = true;
        }
    }
}

bool is_inlining_choice(const StageGraph &graph, int n) {
    if (!can_inline(graph, n))
        return false;
    const Uses uses = uses_of(graph, n);
    return uses.loads <= 32 && uses.along_rows && fits_after_substitute(graph, n, most_loads);
}

bool is_pointwise(const StageGraph &graph, int n) {
    const Node &node = graph.nodes[static_cast<size_t>(n)];
    for (const Access &load : node.stages[0].loads) {
        for (const Coordinate &c : load.coords) {
            const bool here = c.iterator < 0 || (c.num == 1 && c.den == 1);
            if (!here || !c.distance.is_point() || (c.iterator >= 0 && c.distance.min != 0))
                return false;
        }
    }
    return true;
}

bool recompute_is_cheaper(const StageGraph &graph, int n) {
    if (!can_inline(graph, n))
        return false;
    const Node &node = graph.nodes[static_cast<size_t>(n)];
    const Uses uses = uses_of(graph, n);
    if (!uses.along_rows || !fits_after_substitute(graph, n, most_loads))
        return false;
    const double times = uses.evaluations / std::max(1.0, node.points());
    const double loads = static_cast<double>(node.stages[0].loads.size()) * node.bytes;
    const double compute_again = (times - 1) * node.stages[0].arithmetic.total() + times * loads;
    const double keep =
        2 * node.bytes + times * node.bytes;  // a store and its address, and the loads
    return compute_again <= keep;
}

}  // namespace Pipe::autoschedule
