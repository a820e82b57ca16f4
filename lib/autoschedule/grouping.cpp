#include "autoschedule/grouping.h"

#include <algorithm>
#include <cstdint>
#include <map>
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
        NodeSet all(dag_.size());
        std::vector<int> nodes;
        for (int n = 0; n < dag_.size(); n++) {
            all.insert(n);
            nodes.push_back(n);
        }
        result_.cost = solve(all, nodes);
        collect(all, nodes);
        std::sort(result_.groups.begin(), result_.groups.end(),
                  [](const auto &a, const auto &b) { return a.back() < b.back(); });
        return std::move(result_);
    }

  private:
    struct Entry {
        double cost;
        const Candidate *choice;
    };

    /// F(left): cost of the cheapest grouping of the nodes that are left.
    double solve(const NodeSet &left, const std::vector<int> &nodes) {
        double total = 0;
        for (const std::vector<int> &part : components(left, nodes))
            total += solve_part(part);
        return total;
    }

    /// The last node of a connected part has no reader left: it is the live-out of its group. The
    /// cases of the recurrence are which producers join it (Case I) and what is left then (Case II).
    double solve_part(const std::vector<int> &part) {
        NodeSet key(dag_.size());
        for (int n : part)
            key.insert(n);
        auto found = memo_.find(key);
        if (found != memo_.end())
            return found->second.cost;
        Entry best{infinite_cost, nullptr};
        const auto &options = groups_ending_in(part.back());
        const bool full = static_cast<long>(memo_.size()) > limits_.states;
        if (full)
            result_.complete = false;
        for (const Candidate &option : options) {
            // Over the limit, the first group that is cheaper than its nodes one by one is taken.
            if (full && &option != cheapest_per_node(options))
                continue;
            const double cost = option.cost + solve_without(key, part, option.members);
            if (cost < best.cost)
                best = {cost, &option};
        }
        memo_.emplace(std::move(key), best);
        return best.cost;
    }

    double solve_without(const NodeSet &left, const std::vector<int> &nodes,
                         const std::vector<int> &members) {
        auto [rest, rest_nodes] = without(left, nodes, members);
        return solve(rest, rest_nodes);
    }

    static std::pair<NodeSet, std::vector<int>> without(NodeSet left, const std::vector<int> &nodes,
                                                        const std::vector<int> &members) {
        std::vector<int> rest;
        for (int n : nodes) {
            if (contains(members, n)) {
                left.erase(n);
            } else {
                rest.push_back(n);
            }
        }
        return {std::move(left), std::move(rest)};
    }

    static const Candidate *cheapest_per_node(const std::vector<Candidate> &options) {
        auto rate = [](const Candidate &c) {
            return c.cost / static_cast<double>(c.members.size());
        };
        return &*std::min_element(options.begin(), options.end(),
                                  [&](const auto &a, const auto &b) { return rate(a) < rate(b); });
    }

    /// Connected parts of the graph that `nodes` span; each ascending.
    std::vector<std::vector<int>> components(const NodeSet &left,
                                             const std::vector<int> &nodes) const {
        std::vector<std::vector<int>> parts;
        NodeSet seen(dag_.size());
        for (int root : nodes) {
            if (seen.contains(root))
                continue;
            std::vector<int> part = {root};
            seen.insert(root);
            for (size_t i = 0; i < part.size(); i++) {
                for (const auto *list : {&dag_.producers[static_cast<size_t>(part[i])],
                                         &dag_.consumers[static_cast<size_t>(part[i])]}) {
                    for (int n : *list) {
                        if (!left.contains(n) || seen.contains(n))
                            continue;
                        seen.insert(n);
                        part.push_back(n);
                    }
                }
            }
            std::sort(part.begin(), part.end());
            parts.push_back(std::move(part));
        }
        return parts;
    }

    /// Every valid group whose live-out is `output`, the single node first.
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
            if (static_cast<int>(members.size()) >= limits_.group_limit)
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

    /// Producers that are read by members only.
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

    void collect(const NodeSet &left, const std::vector<int> &nodes) {
        for (const std::vector<int> &part : components(left, nodes)) {
            NodeSet key(dag_.size());
            for (int n : part)
                key.insert(n);
            const Candidate *choice = memo_.at(key).choice;
            result_.groups.push_back(choice->members);
            auto [rest, rest_nodes] = without(key, part, choice->members);
            collect(rest, rest_nodes);
        }
    }

    const Dag &dag_;
    const GroupCost &cost_;
    const GroupingLimits &limits_;
    std::vector<std::vector<Candidate>> candidates_;  // per live-out
    std::unordered_map<NodeSet, Entry, Hash> memo_;
    Grouping result_;
};

/// Group of every node.
std::vector<int> group_of_nodes(const Dag &dag, const std::vector<std::vector<int>> &groups) {
    std::vector<int> of(static_cast<size_t>(dag.size()), -1);
    for (size_t g = 0; g < groups.size(); g++) {
        for (int n : groups[g])
            of[static_cast<size_t>(n)] = static_cast<int>(g);
    }
    return of;
}

/// One node per group, in the order of their live-outs, which is topological.
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
