#include "autoschedule/grouping.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <numeric>
#include <unordered_map>

namespace Pipe::autoschedule {

namespace {

/// A set of nodes.
class NodeSet {
  public:
    explicit NodeSet(int size) : words_((static_cast<size_t>(size) + 63) / 64) {}
    void insert(int n) { words_[word(n)] |= bit(n); }
    void erase(int n) { words_[word(n)] &= ~bit(n); }
    bool contains(int n) const { return (words_[word(n)] & bit(n)) != 0; }
    bool operator==(const NodeSet &) const = default;
    size_t hash() const {
        uint64_t h = 1469598103934665603u;
        for (uint64_t w : words_)
            h = (h ^ w) * 1099511628211u, h ^= h >> 29;
        return h;
    }

  private:
    static size_t word(int n) { return static_cast<size_t>(n) / 64; }
    static uint64_t bit(int n) { return uint64_t(1) << (n % 64); }
    std::vector<uint64_t> words_;
};

struct Hash {
    size_t operator()(const NodeSet &s) const { return s.hash(); }
};

struct Candidate {
    std::vector<int> members;
    double cost;
};

bool contains(const std::vector<int> &sorted, int value) {
    return std::binary_search(sorted.begin(), sorted.end(), value);
}

class Search {
  public:
    Search(const Dag &dag, const GroupCost &cost, const GroupingLimits &limits)
        : dag_(dag), cost_(cost), limits_(limits), candidates_(static_cast<size_t>(dag.size())) {}

    Grouping run() {
        std::vector<int> nodes(static_cast<size_t>(dag_.size()));
        std::iota(nodes.begin(), nodes.end(), 0);
        std::vector<Part> parts = components(part_of(std::move(nodes)));
        for (const Part &part : parts) {
            solve(part);
            result_.cost += memo_.at(part.key).cost;
        }
        collect(std::move(parts));
        std::sort(result_.groups.begin(), result_.groups.end(),
                  [](const auto &a, const auto &b) { return a.back() < b.back(); });
        return std::move(result_);
    }

  private:
    /// Remaining nodes, ascending.
    struct Part {
        NodeSet key;
        std::vector<int> nodes;
    };
    struct Entry {
        double cost;
        const Candidate *choice;
    };
    /// A subproblem whose cases are being compared.
    struct Visit {
        Part part;
        const std::vector<Candidate> &options;
        bool
            full;  ///< beyond the limit, the first group that is cheaper than its single nodes is chosen
        Entry best{infinite_cost, nullptr};
        size_t option = 0;            ///< the current option
        std::vector<Part> rest = {};  ///< the parts that remain for it
        size_t solved = 0;            ///< number of parts that are solved
        double rest_cost = 0;         ///< and their cost
        bool begun = false;
    };

    /// F(left): the cost of the cheapest grouping of a connected part. Its last node has no
    /// remaining reader: it is the live-out of its group. The cases of the recurrence are which
    /// producers join it (Case I) and what remains then (Case II). The recursion is as deep as the
    /// pipeline is long, so it uses an explicit stack.
    void solve(const Part &first) {
        std::vector<Visit> stack;
        auto visit = [&](Part part) {
            const bool full = static_cast<long>(memo_.size()) > limits_.states;
            if (full)
                result_.complete = false;
            const auto &options = groups_ending_in(part.nodes.back());
            stack.push_back({std::move(part), options, full});
        };
        visit(first);
        while (!stack.empty()) {
            if (const Part *needed = compare_options(stack.back())) {
                visit(*needed);
            } else {
                memo_.emplace(std::move(stack.back().part.key), stack.back().best);
                stack.pop_back();
            }
        }
    }

    /// Continues until the cost is known; stops at a part whose cost must be known first.
    const Part *compare_options(Visit &v) {
        for (; v.option < v.options.size(); v.option++, v.begun = false) {
            const Candidate &option = v.options[v.option];
            if (v.full && &option != cheapest_per_node(v.options))
                continue;
            if (!v.begun) {
                v.rest = components(without(v.part, option.members));
                v.solved = 0, v.rest_cost = 0, v.begun = true;
            }
            for (; v.solved < v.rest.size(); v.solved++) {
                auto found = memo_.find(v.rest[v.solved].key);
                if (found == memo_.end())
                    return &v.rest[v.solved];
                v.rest_cost += found->second.cost;
            }
            const double cost = option.cost + v.rest_cost;
            if (cost < v.best.cost)
                v.best = {cost, &option};
        }
        return nullptr;
    }

    Part part_of(std::vector<int> nodes) const {
        Part part{NodeSet(dag_.size()), std::move(nodes)};
        for (int n : part.nodes)
            part.key.insert(n);
        return part;
    }

    static Part without(const Part &part, const std::vector<int> &members) {
        Part rest{part.key, {}};
        for (int n : part.nodes) {
            if (contains(members, n)) {
                rest.key.erase(n);
            } else {
                rest.nodes.push_back(n);
            }
        }
        return rest;
    }

    static const Candidate *cheapest_per_node(const std::vector<Candidate> &options) {
        auto rate = [](const Candidate &c) {
            return c.cost / static_cast<double>(c.members.size());
        };
        return &*std::min_element(options.begin(), options.end(),
                                  [&](const auto &a, const auto &b) { return rate(a) < rate(b); });
    }

    /// Connected components of the subgraph of the nodes.
    std::vector<Part> components(const Part &left) const {
        std::vector<Part> parts;
        NodeSet seen(dag_.size());
        for (int root : left.nodes) {
            if (seen.contains(root))
                continue;
            std::vector<int> nodes = {root};
            seen.insert(root);
            for (size_t i = 0; i < nodes.size(); i++) {
                for (const auto *list : {&dag_.producers[static_cast<size_t>(nodes[i])],
                                         &dag_.consumers[static_cast<size_t>(nodes[i])]}) {
                    for (int n : *list) {
                        if (!left.key.contains(n) || seen.contains(n))
                            continue;
                        seen.insert(n);
                        nodes.push_back(n);
                    }
                }
            }
            std::sort(nodes.begin(), nodes.end());
            parts.push_back(part_of(std::move(nodes)));
        }
        return parts;
    }

    /// Every valid group whose live-out is `output`, beginning with the single node.
    const std::vector<Candidate> &groups_ending_in(int output) {
        std::vector<Candidate> &result = candidates_[static_cast<size_t>(output)];
        if (!result.empty())
            return result;
        std::vector<std::vector<int>> queue = {{output}};
        std::map<std::vector<int>, bool> seen = {{queue[0], true}};
        for (size_t i = 0; i < queue.size(); i++) {
            const std::vector<int> members = queue[i];
            const double cost = cost_(members);
            result_.evaluated++;
            if (cost < infinite_cost)
                result.push_back({members, cost});
            else if (!limits_.extends_impossible)
                continue;
            if (static_cast<int>(members.size()) >= limits_.group_limit ||
                (cost < infinite_cost && cost > limits_.worth_extending * cost_alone(members)))
                continue;
            if (static_cast<long>(queue.size()) >= limits_.groups_per_output) {
                result_.complete = false;
                continue;
            }
            for (int next : joinable(members)) {
                std::vector<int> larger = members;
                larger.insert(std::lower_bound(larger.begin(), larger.end(), next), next);
                if (seen.emplace(larger, true).second)
                    queue.push_back(std::move(larger));
            }
        }
        return result;
    }

    /// Of these nodes, each as a group of its own.
    double cost_alone(const std::vector<int> &members) {
        double cost = 0;
        for (int m : members) {
            auto [at, is_new] = alone_.try_emplace(m);
            if (is_new)
                at->second = cost_({m});
            cost += at->second;
        }
        return cost;
    }

    /// Producers that are read only by members.
    std::vector<int> joinable(const std::vector<int> &members) const {
        std::vector<int> result;
        for (int m : members) {
            for (int p : dag_.producers[static_cast<size_t>(m)]) {
                const auto &readers = dag_.consumers[static_cast<size_t>(p)];
                const bool inside = std::all_of(readers.begin(), readers.end(),
                                                [&](int r) { return contains(members, r); });
                const bool is_new = !contains(members, p) &&
                                    std::find(result.begin(), result.end(), p) == result.end();
                if (inside && is_new)
                    result.push_back(p);
            }
        }
        return result;
    }

    void collect(std::vector<Part> parts) {
        while (!parts.empty()) {
            const Part part = std::move(parts.back());
            parts.pop_back();
            const Candidate *choice = memo_.at(part.key).choice;
            result_.groups.push_back(choice->members);
            for (Part &rest : components(without(part, choice->members)))
                parts.push_back(std::move(rest));
        }
    }

    const Dag &dag_;
    const GroupCost &cost_;
    const GroupingLimits &limits_;
    std::vector<std::vector<Candidate>> candidates_;  // per live-out
    std::map<int, double> alone_;                     // costs of single nodes
    std::unordered_map<NodeSet, Entry, Hash> memo_;
    Grouping result_;
};

/// The group of every node.
std::vector<int> group_of_nodes(const Dag &dag, const std::vector<std::vector<int>> &groups) {
    std::vector<int> of(static_cast<size_t>(dag.size()), -1);
    for (size_t g = 0; g < groups.size(); g++) {
        for (int n : groups[g])
            of[static_cast<size_t>(n)] = static_cast<int>(g);
    }
    return of;
}

/// The condensed graph with one node per group, in the order of their live-outs, which is
/// topological.
Dag collapse(const Dag &dag, const std::vector<std::vector<int>> &groups) {
    Dag result;
    result.producers.resize(groups.size());
    result.consumers.resize(groups.size());
    const std::vector<int> of = group_of_nodes(dag, groups);
    for (int n = 0; n < dag.size(); n++) {
        for (int p : dag.producers[static_cast<size_t>(n)]) {
            const int a = of[static_cast<size_t>(p)], b = of[static_cast<size_t>(n)];
            if (a != b)
                result.add_edge(a, b);
        }
    }
    return result;
}

}  // namespace

void Dag::add_edge(int producer, int consumer) {
    const size_t needed = static_cast<size_t>(std::max(producer, consumer)) + 1;
    if (producers.size() < needed)
        producers.resize(needed);
    if (consumers.size() < needed)
        consumers.resize(needed);
    auto &list = producers[static_cast<size_t>(consumer)];
    if (std::find(list.begin(), list.end(), producer) != list.end())
        return;
    list.push_back(producer);
    consumers[static_cast<size_t>(producer)].push_back(consumer);
}

Grouping group(const Dag &dag, const GroupCost &cost, const GroupingLimits &limits) {
    return Search(dag, cost, limits).run();
}

Grouping group_incrementally(const Dag &dag, const GroupCost &cost, GroupingLimits limits) {
    Grouping best = group(dag, cost, limits);
    best.complete = best.complete && limits.group_limit >= dag.size();
    while (!best.complete && best.groups.size() > 1) {
        const std::vector<std::vector<int>> nodes = best.groups;  // of the smaller graph
        auto cost_of_groups = [&](const std::vector<int> &groups) {
            std::vector<int> members;
            for (int g : groups) {
                const auto &some = nodes[static_cast<size_t>(g)];
                members.insert(members.end(), some.begin(), some.end());
            }
            std::sort(members.begin(), members.end());
            return cost(members);
        };
        Grouping next = group(collapse(dag, nodes), cost_of_groups, limits);
        best.evaluated += next.evaluated;
        if (next.groups.size() == nodes.size())
            break;
        best.cost = next.cost;
        best.groups.clear();
        for (const std::vector<int> &groups : next.groups) {
            std::vector<int> members;
            for (int g : groups) {
                const auto &some = nodes[static_cast<size_t>(g)];
                members.insert(members.end(), some.begin(), some.end());
            }
            std::sort(members.begin(), members.end());
            best.groups.push_back(std::move(members));
        }
    }
    return best;
}

bool has_cycle(const Dag &dag, const std::vector<std::vector<int>> &groups) {
    const std::vector<int> of = group_of_nodes(dag, groups);
    std::vector<std::vector<int>> next(groups.size());
    std::vector<int> incoming(groups.size(), 0);
    for (int n = 0; n < dag.size(); n++) {
        for (int p : dag.producers[static_cast<size_t>(n)]) {
            const int a = of[static_cast<size_t>(p)], b = of[static_cast<size_t>(n)];
            if (a == b)
                continue;
            next[static_cast<size_t>(a)].push_back(b);
            incoming[static_cast<size_t>(b)]++;
        }
    }
    std::vector<int> ready;
    for (size_t g = 0; g < groups.size(); g++) {
        if (incoming[g] == 0)
            ready.push_back(static_cast<int>(g));
    }
    for (size_t i = 0; i < ready.size(); i++) {
        for (int b : next[static_cast<size_t>(ready[i])]) {
            if (--incoming[static_cast<size_t>(b)] == 0)
                ready.push_back(b);
        }
    }
    return ready.size() < groups.size();
}

bool is_valid(const Dag &dag, const std::vector<std::vector<int>> &groups) {
    std::vector<int> count(static_cast<size_t>(dag.size()), 0);
    for (const auto &g : groups) {
        int live_outs = 0;
        for (int n : g) {
            count[static_cast<size_t>(n)]++;
            const auto &readers = dag.consumers[static_cast<size_t>(n)];
            const bool inside =
                !readers.empty() && std::all_of(readers.begin(), readers.end(), [&](int r) {
                    return std::find(g.begin(), g.end(), r) != g.end();
                });
            live_outs += !inside;
        }
        if (live_outs != 1)
            return false;
    }
    const bool partition = std::all_of(count.begin(), count.end(), [](int c) { return c == 1; });
    return partition && !has_cycle(dag, groups);
}

}  // namespace Pipe::autoschedule
