#include "autoschedule/search.h"

#include <algorithm>
#include <map>
#include <optional>

#include "autoschedule/gpu/gpu_group.h"
#include "autoschedule/group_model.h"
#include "autoschedule/inlining.h"
#include "autoschedule/substitute.h"
#include "autoschedule/unrolling.h"

namespace Pipe::autoschedule {

namespace {

constexpr size_t small_pipeline =
    64;  ///< nodes up to which inlining choices are tried individually
constexpr size_t refined_pipeline =
    8;  ///< nodes up to which all tilings of each group are tried, and every change is grouped anew
constexpr size_t whole_groups = 24;     ///< nodes up to which groups may have any size
constexpr size_t few_reductions = 6;    ///< of which each is tried unrolled and as it is
constexpr double worth_it = 0.995;  ///< a choice must lower the predicted cost by half a percent

/// The groups of `found` in another graph, of which few Funcs are inlined or stored where those of `found` are not. What has lost
/// the output of its group, or had none, joins its readers if they are in one group.
std::vector<std::vector<int>> groups_like(const SearchResult &found, const StageGraph &graph) {
    std::vector<int> output(graph.nodes.size(), -1);  // of the group of each node
    for (const Plan &plan : found.plans)
        for (int n : plan.members)
            output[static_cast<size_t>(n)] = plan.members[0];
    auto output_of_readers = [&](const Node &node) {
        const int first = node.consumers.empty() ? -1 : output[size_t(node.consumers[0])];
        const bool same = std::all_of(node.consumers.begin(), node.consumers.end(),
                                      [&](int r) { return output[size_t(r)] == first; });
        return same ? first : -1;
    };
    std::map<int, std::vector<int>> groups;  // by their output
    for (size_t n = graph.nodes.size(); n-- > 0;) {
        const Node &node = graph.nodes[n];
        if (node.inlined || node.role == Role::Fixed)
            continue;
        if (output[n] < 0 || graph.nodes[size_t(output[n])].inlined)
            output[n] = output_of_readers(node);
        if (output[n] < 0)
            output[n] = static_cast<int>(n);
        groups[output[n]].push_back(static_cast<int>(n));
    }
    std::vector<std::vector<int>> result;
    for (auto &[out, members] : groups)
        result.emplace_back(members.rbegin(), members.rend());
    return result;
}

class Searcher {
  public:
    /// \param nodes  of the graph, that are not inlined
    Searcher(const Machine &machine, const AutoscheduleOptions &options, size_t nodes)
        : machine_(machine), options_(options), coarse_(nodes > refined_pipeline),
          budget_(groups_within(options, machine)) {}

    /// The best grouping of `graph` without further inlining.
    SearchResult group_all(const StageGraph &graph) {
        SearchResult found;
        found.graph = graph;
        std::vector<int> nodes;  // index in the DAG -> index in the stage graph
        Dag dag = dag_of(graph, nodes);
        auto plan_of = [&](const std::vector<int> &members) -> const std::optional<Plan> & {
            std::vector<int> ids;
            for (int m : members)
                ids.push_back(nodes[static_cast<size_t>(m)]);
            return known_plan(graph, ids);
        };
        auto fixed = [&](const std::vector<int> &members) {
            const int n = nodes[static_cast<size_t>(members[0])];
            return members.size() == 1 && graph.nodes[static_cast<size_t>(n)].role == Role::Fixed;
        };
        auto cost = [&](const std::vector<int> &members) {
            if (fixed(members))
                return 0.0;
            const std::optional<Plan> &plan = plan_of(members);
            return plan ? plan->cost.total : infinite_cost;
        };
        Grouping grouping = group_incrementally(dag, cost, limits(dag));
        for (const std::vector<int> &members : grouping.groups) {
            if (!fixed(members))
                found.plans.push_back(*plan_of(members));
        }
        found.cost = grouping.cost;
        found.evaluated = grouping.evaluated;
        found.complete = grouping.complete;
        evaluated_ += grouping.evaluated;
        return found;
    }

    /// Whether it is worth grouping `graph` anew, of which few Funcs are inlined or stored where those of `best` are not: small
    /// pipelines always, others if it costs less in the groups of `best`. Of the changes that lowered the cost of the applications,
    /// one alone did so only in other groups.
    bool may_be_better(const StageGraph &graph, const SearchResult &best) {
        return !coarse_ || cost_in_groups_of(best, graph) < best.cost;
    }

    /// The plans that were chosen among some tilings, among all of them.
    void refine(SearchResult &found) const {
        if (!coarse_)
            return;
        found.cost = 0;
        for (Plan &chosen : found.plans) {
            chosen = *plan(found.graph, chosen.members, false);
            found.cost += chosen.cost.total;
        }
    }

    bool exhausted() const {
        const double tilings_per_ms = 3000;
        return evaluated_ >= budget_ ||
               double(memory_->work()) >= tilings_per_ms * options_.time_budget_ms;
    }
    long evaluated() const { return evaluated_; }

  private:
    /// Members and the Funcs inlined into them: a plan depends on nothing else that changes.
    using Key = std::vector<std::pair<int, uint64_t>>;

    const std::optional<Plan> &known_plan(const StageGraph &graph, const std::vector<int> &ids) {
        Key key;
        for (int id : ids)
            key.emplace_back(id, graph.nodes[static_cast<size_t>(id)].version);
        auto known = plans_.find(key);
        if (known != plans_.end())
            return known->second;
        return plans_.emplace(key, plan(graph, ids, coarse_)).first->second;
    }

    double cost_in_groups_of(const SearchResult &found, const StageGraph &graph) {
        double cost = 0;
        for (const std::vector<int> &members : groups_like(found, graph)) {
            const std::optional<Plan> &plan = known_plan(graph, members);
            cost += plan ? plan->cost.total : infinite_cost;
        }
        return cost;
    }

    std::optional<Plan> plan(const StageGraph &graph, const std::vector<int> &ids,
                             bool coarse) const {
        auto on_host = [&](int n) {
            return graph.nodes[static_cast<size_t>(n)].on_host;
        };
        if (!machine_.gpu)
            return plan_group(graph, machine_, ids, coarse, memory_);
        if (std::none_of(ids.begin(), ids.end(), on_host))
            return plan_kernel(graph, machine_, ids);
        return ids.size() == 1 ? plan_group(graph, machine_, ids, coarse, memory_) : std::nullopt;
    }

    /// Groups of any size if the pipeline is small; else bounded (Algorithm 5).
    GroupingLimits limits(const Dag &dag) const {
        GroupingLimits l;
        if (options_.group_limit > 0) {
            l.group_limit = options_.group_limit;
        } else if (dag.size() > static_cast<int>(whole_groups)) {
            l.group_limit = dag.size() > 200 ? 4 : 8;
        }
        l.groups_per_output = std::clamp<long>(2 * budget_ / std::max(1, dag.size()), 4, 512);
        l.states = std::clamp<long>(4 * budget_, 1000, 50000);
        if (!machine_.gpu)
            l.worth_extending = 1;
        return l;
    }

    const Machine &machine_;
    const AutoscheduleOptions &options_;
    const bool coarse_;
    const long budget_;
    long evaluated_ = 0;
    const std::shared_ptr<SearchMemory> memory_ = std::make_shared<SearchMemory>();
    std::map<Key, std::optional<Plan>> plans_;
};

/// Decides which Funcs are inlined in addition to those that cost nothing.
using Choices = std::vector<bool>;

class InliningSearch {
  public:
    /// \param graph  after inlining what costs nothing
    InliningSearch(StageGraph graph, Searcher &searcher)
        : graph_(std::move(graph)), searcher_(searcher) {}

    /// Applies the choices in `wanted`, consumers first.
    template <typename F> Choices choose(F &&wanted) const {
        StageGraph graph = graph_;
        Choices choices(graph.nodes.size(), false);
        for (size_t n = graph.nodes.size(); n-- > 0;) {
            const int node = static_cast<int>(n);
            if (!is_inlining_choice(graph, node) || !wanted(graph, node))
                continue;
            choices[n] = true;
            substitute(graph, node);
        }
        return choices;
    }

    /// Flips choices one after the other until none lowers the cost.
    SearchResult climb(Choices choices, SearchResult best) {
        bool improved = true;
        while (improved && !searcher_.exhausted()) {
            improved = false;
            for (size_t n = 0; n < choices.size() && !searcher_.exhausted(); n++) {
                if (!choices[n] && !is_inlining_choice(best.graph, static_cast<int>(n)))
                    continue;
                Choices flipped = choices;
                flipped[n] = !flipped[n];
                const StageGraph graph = graph_with(flipped);
                if (!searcher_.may_be_better(graph, best))
                    continue;
                SearchResult other = searcher_.group_all(graph);
                if (other.cost >= best.cost * worth_it)
                    continue;
                best = std::move(other);
                choices = std::move(flipped);
                improved = true;
            }
        }
        return best;
    }

    StageGraph graph_with(const Choices &choices) const {
        StageGraph graph = graph_;
        for (size_t n = graph.nodes.size(); n-- > 0;) {
            if (!choices[n] || !is_inlining_choice(graph, static_cast<int>(n)))
                continue;
            substitute(graph, static_cast<int>(n));
            inline_free_of_cost(graph);
        }
        return graph;
    }

    const StageGraph &graph() const { return graph_; }

  private:
    StageGraph graph_;
    Searcher &searcher_;
};

/// Inlines everything that is cheap to recompute.
StageGraph inline_cheap(StageGraph graph) {
    for (size_t n = graph.nodes.size(); n-- > 0;) {
        if (recompute_is_cheaper(graph, static_cast<int>(n)))
            substitute(graph, static_cast<int>(n));
    }
    inline_free_of_cost(graph);
    return graph;
}

/// Nodes that are not inlined.
size_t live_nodes(const StageGraph &graph) {
    return static_cast<size_t>(std::count_if(graph.nodes.begin(), graph.nodes.end(),
                                             [](const Node &n) { return !n.inlined; }));
}

/// Inlining and grouping, with the reductions as they are.
SearchResult search_form(StageGraph start, Searcher &searcher) {
    inline_free_of_cost(start);
    if (live_nodes(start) > small_pipeline)
        return searcher.group_all(inline_cheap(std::move(start)));
    const bool large = live_nodes(start) > whole_groups;
    InliningSearch inlining(std::move(start), searcher);
    const size_t nodes = inlining.graph().nodes.size();
    // Choices that are profitable only together are reached from different starting points.
    struct Start {
        Choices choices;
        SearchResult found;
    };
    std::vector<Start> starts;
    for (Choices choices : {Choices(nodes, false), inlining.choose(recompute_is_cheaper),
                            inlining.choose(is_pointwise)}) {
        if (std::any_of(starts.begin(), starts.end(),
                        [&](const Start &start) { return start.choices == choices; }))
            continue;
        const StageGraph graph = inlining.graph_with(choices);
        if (large && !starts.empty() && !searcher.may_be_better(graph, starts[0].found))
            continue;
        starts.push_back({std::move(choices), searcher.group_all(graph)});
    }
    // The best one first: the budget may end before the others are improved.
    std::stable_sort(starts.begin(), starts.end(),
                     [](const Start &a, const Start &b) { return a.found.cost < b.found.cost; });
    SearchResult best;
    for (Start &start : starts) {
        const bool is_first = &start == &starts[0];
        SearchResult found = inlining.climb(start.choices, std::move(start.found));
        if (is_first || found.cost < best.cost * worth_it)
            best = std::move(found);
    }
    return best;
}

/// Which nodes are unrolled, of those that can be.
SearchResult search_with(const StageGraph &graph, const Choices &unrolled, Searcher &searcher) {
    StageGraph form = graph;
    for (size_t n = 0; n < unrolled.size(); n++)
        if (unrolled[n])
            unroll(form, static_cast<int>(n));
    return search_form(std::move(form), searcher);
}

/// Which of the short reductions are unrolled: none, all, and, if they are few, all but one or one more of the better.
class UnrollingSearch {
  public:
    UnrollingSearch(const StageGraph &graph, Searcher &searcher)
        : graph_(graph), searcher_(searcher), chosen_(graph.nodes.size(), false) {
        for (size_t n = 0; n < graph.nodes.size(); n++)
            if (graph.nodes[n].unrolled)
                candidates_.push_back(n);
        best_ = search_with(graph, chosen_, searcher);
        share_ = share_of_candidates();
    }

    SearchResult run() {
        if (candidates_.empty())
            return std::move(best_);
        Choices all = chosen_;
        for (size_t n : candidates_)
            all[n] = true;
        attempt(std::move(all));
        if (candidates_.size() == 1 || candidates_.size() > few_reductions)
            return std::move(best_);
        for (size_t n : candidates_) {
            if (searcher_.exhausted())
                break;
            Choices flipped = chosen_;
            flipped[n] = !flipped[n];
            attempt(std::move(flipped));
        }
        return std::move(best_);
    }

  private:
    const StageGraph &graph_;
    Searcher &searcher_;
    std::vector<size_t> candidates_;
    Choices chosen_;
    SearchResult best_;
    double share_ = 0;  ///< of the cost, that of groups with candidates

    double share_of_candidates() const {
        double cost = 0;
        for (const Plan &plan : best_.plans)
            if (std::any_of(plan.members.begin(), plan.members.end(), [&](int n) {
                    return graph_.nodes[static_cast<size_t>(n)].unrolled != nullptr;
                }))
                cost += plan.cost.total;
        return best_.cost > 0 ? cost / best_.cost : 0;
    }

    void attempt(Choices choices) {
        SearchResult other = search_with(graph_, choices, searcher_);
        if (other.cost * handicap(choices) >= best_.cost * handicap(chosen_) * worth_it)
            return;
        best_ = std::move(other);
        chosen_ = std::move(choices);
    }

    /// Measured for sums of 3 to 25 values: unrolled, they took 0.65 to 1 times as long where 0.99 to 1.07 was predicted.
    double handicap(const Choices &choices) const {
        double loops = 0;
        for (size_t n : candidates_)
            loops += choices[n] ? 0 : 1;
        return 1 + 0.15 * share_ * loops / static_cast<double>(candidates_.size());
    }
};

}  // namespace

Dag dag_of(const StageGraph &graph, std::vector<int> &nodes) {
    std::vector<int> index(graph.nodes.size(), -1);
    for (size_t n = 0; n < graph.nodes.size(); n++) {
        if (graph.nodes[n].inlined)
            continue;
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

long groups_within(const AutoscheduleOptions &options, const Machine &machine) {
    const double per_ms = machine.gpu ? 4 : 20;
    return static_cast<long>(std::max(1.0, options.time_budget_ms) * per_ms);
}

SearchResult search(const StageGraph &graph, const Machine &machine,
                    const AutoscheduleOptions &options) {
    StageGraph start = graph;
    inline_free_of_cost(start);
    Searcher searcher(machine, options, live_nodes(start));
    SearchResult best = UnrollingSearch(graph, searcher).run();
    best.evaluated = searcher.evaluated();
    searcher.refine(best);
    return best;
}

}  // namespace Pipe::autoschedule
