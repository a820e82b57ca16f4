#pragma once
// Dynamic programming over all valid fusions (Jangda 2020, sections 3 and 6).

#include <functional>
#include <limits>
#include <optional>
#include <vector>

namespace Pipe::autoschedule {

/// A DAG whose nodes are numbered producers before consumers.
struct Dag {
    std::vector<std::vector<int>> producers, consumers;
    int size() const { return static_cast<int>(producers.size()); }
    void add_edge(int producer, int consumer);
};

constexpr double infinite_cost = std::numeric_limits<double>::infinity();

/// Cost of computing these nodes (ascending) as one group; infinite if impossible. The cost of a
/// group of one node must be finite.
using GroupCost = std::function<double(const std::vector<int> &)>;

struct Grouping {
    std::vector<std::vector<int>> groups;  ///< each ascending; sorted by their last node
    double cost = 0;
    long evaluated = 0;    ///< number of cost queries
    bool complete = true;  ///< whether every valid grouping was considered
};

struct GroupingLimits {
    int group_limit = std::numeric_limits<int>::max();  ///< nodes in a group
    long groups_per_output = 4096;                      ///< candidates that end in the same node
    long states = 100000;                               ///< entries of the memo
    /// Whether groups that contain an impossible one may be possible.
    bool extends_impossible = true;
    /// A group that costs more than so many times what its nodes cost alone is not extended.
    double worth_extending = infinite_cost;
};

/// The cheapest valid grouping. A group has one live-out: all other nodes are read only inside.
///
/// This is Algorithm 1 from the live-outs to the inputs. The paper traverses forward and may close
/// a group before a later producer of one of its nodes is seen (for A->B->D->C, A->C it never
/// considers {A}, {B}, {D, C}); backward, a node is decided after all of its readers, and no valid
/// grouping is missed. With one live-out per group, the only valid partition of the next nodes is
/// the one into single nodes, and no group can close a cycle: a path out of it leaves through the
/// live-out. The memo is keyed by the set of remaining nodes, one connected component at a time.
Grouping group(const Dag &dag, const GroupCost &cost, const GroupingLimits &limits = {});

/// Bounded incremental grouping (Algorithm 5): groups of at most `limit` nodes; then each group is
/// a node of a smaller graph, which is grouped again, until nothing changes.
Grouping group_incrementally(const Dag &dag, const GroupCost &cost, GroupingLimits limits);

/// What the fusion of a group with the only group that reads it is worth; nothing if it is not possible.
using FusionGain = std::function<std::optional<double>(const std::vector<int> &group,
                                                       const std::vector<int> &reader)>;

/// Greedy grouping: fuses the pair that is worth most, as long as there is one.
Grouping group_greedily(const Dag &dag, const FusionGain &gain);

/// Whether some group depends on itself through other groups (section 3.2, validity).
bool has_cycle(const Dag &dag, const std::vector<std::vector<int>> &groups);

/// Every node in exactly one group, one live-out per group, no cycle.
bool is_valid(const Dag &dag, const std::vector<std::vector<int>> &groups);

}  // namespace Pipe::autoschedule
