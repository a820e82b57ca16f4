#include "autoschedule/search.h"

#include <algorithm>
#include <map>

#include "autoschedule/group_model.h"
#include "autoschedule/grouping.h"
#include "autoschedule/inlining.h"

namespace Pipe::autoschedule {

namespace {

constexpr size_t small_pipeline = 64;  ///< nodes up to which inlining choices are tried one by one
constexpr double worth_it = 0.995;     ///< a choice must lower the predicted cost by half a percent

/// Candidate tilings that may be evaluated per millisecond of budget: a count, not a clock, so that
/// the answer does not depend on how busy the machine is.
constexpr double groups_per_ms = 20;

class Searcher {
  public:
    Searcher(const Machine &machine, const AutoscheduleOptions &options)
        : machine_(machine), options_(options),
          budget_(static_cast<long>(std::max(1.0, options.time_budget_ms) * groups_per_ms)) {}

    /// Best grouping of `graph` as it is.
    Found group_all(const StageGraph &graph) {
        Found found;
        found.graph = graph;
        std::vector<int> nodes;  // of the DAG -> of the stage graph
        Dag dag = dag_of(graph, nodes);
        const bool coarse = nodes.size() > small_pipeline;
        std::map<std::vector<int>, Plan> plans;
        auto cost = [&](const std::vector<int> &members) {
            std::vector<int> ids;
            for (int m : members) ids.push_back(nodes[static_cast<size_t>(m)]);
            const Node &only = graph.nodes[static_cast<size_t>(ids[0])];
            if (ids.size() == 1 && only.role == Role::Fixed) return 0.0;
            auto plan = plan_group(graph, machine_, ids, coarse);
            if (!plan) return infinite_cost;
            const double total = plan->cost.total;
            plans.emplace(members, std::move(*plan));
            return total;
        };
        Grouping grouping = group_incrementally(dag, cost, limits(dag));
        for (const std::vector<int> &members : grouping.groups) {
            auto plan = plans.find(members);
            if (plan != plans.end()) found.plans.push_back(plan->second);
        }
        found.cost = grouping.cost;
        found.evaluated = grouping.evaluated;
        found.complete = grouping.complete;
        evaluated_ += grouping.evaluated;
        return found;
    }

    bool exhausted() const { return evaluated_ >= budget_; }

  private:
    static Dag dag_of(const StageGraph &graph, std::vector<int> &nodes) {
        std::vector<int> index(graph.nodes.size(), -1);
        for (size_t n = 0; n < graph.nodes.size(); n++) {
            if (graph.nodes[n].inlined) continue;
            index[n] = static_cast<int>(nodes.size());
            nodes.push_back(static_cast<int>(n));
        }
        Dag dag;
        dag.producers.resize(nodes.size());
        dag.consumers.resize(nodes.size());
        for (int n : nodes) {
            for (int p : graph.nodes[static_cast<size_t>(n)].producers) {
                dag.add_edge(index[static_cast<size_t>(p)], index[static_cast<size_t>(n)]);
            }
        }
        return dag;
    }

    /// Groups of any size where the pipeline is small; else bounded (Algorithm 5).
    GroupingLimits limits(const Dag &dag) const {
        GroupingLimits l;
        if (options_.group_limit > 0) {
            l.group_limit = options_.group_limit;
        } else if (dag.size() > 24) {
            l.group_limit = dag.size() > 200 ? 4 : 8;
        }
        l.groups_per_output = std::clamp<long>(2 * budget_ / std::max(1, dag.size()), 4, 512);
        l.states = std::clamp<long>(4 * budget_, 1000, 50000);
        return l;
    }

    const Machine &machine_;
    const AutoscheduleOptions &options_;
    long budget_, evaluated_ = 0;
};

/// Substitutes `choice` and all that is then free of cost.
StageGraph with_inlined(StageGraph graph, int choice) {
    substitute(graph, choice);
    inline_free_of_cost(graph);
    return graph;
}

/// Tries the choices one after the other until none lowers the cost.
Found climb(Searcher &searcher, Found best) {
    bool improved = true;
    while (improved && !searcher.exhausted()) {
        improved = false;
        for (int choice : inlining_choices(best.graph)) {
            if (searcher.exhausted()) break;
            if (best.graph.nodes[static_cast<size_t>(choice)].inlined) continue;
            Found other = searcher.group_all(with_inlined(best.graph, choice));
            other.evaluated += best.evaluated;
            if (other.cost < best.cost * worth_it) {
                best = std::move(other);
                improved = true;
            } else {
                best.evaluated = other.evaluated;
            }
        }
    }
    return best;
}

/// Substitutes everything that is cheap to compute again.
StageGraph inline_cheap(StageGraph graph) {
    for (size_t n = graph.nodes.size(); n-- > 0;) {
        if (recompute_is_cheaper(graph, static_cast<int>(n))) substitute(graph, static_cast<int>(n));
    }
    inline_free_of_cost(graph);
    return graph;
}

}  // namespace

Found search(const StageGraph &graph, const Machine &machine, const AutoscheduleOptions &options) {
    Searcher searcher(machine, options);
    StageGraph start = graph;
    inline_free_of_cost(start);
    StageGraph cheap = inline_cheap(start);
    const auto live = std::count_if(start.nodes.begin(), start.nodes.end(),
                                    [](const Node &n) { return !n.inlined; });
    if (static_cast<size_t>(live) > small_pipeline) return searcher.group_all(cheap);
    // Two starts: a pair of choices may pay only together.
    Found a = climb(searcher, searcher.group_all(start));
    Found b = climb(searcher, searcher.group_all(cheap));
    const long evaluated = a.evaluated + b.evaluated;
    Found best = b.cost < a.cost * worth_it ? std::move(b) : std::move(a);
    best.evaluated = evaluated;
    return best;
}

}  // namespace Pipe::autoschedule
