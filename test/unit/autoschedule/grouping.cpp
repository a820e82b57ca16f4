// The dynamic program against enumeration of all valid groupings.

#include <chrono>
#include <map>
#include <random>

#include <catch2/catch_test_macros.hpp>

#include "autoschedule/grouping.h"
#include "support/deep_stack.h"

using namespace Pipe::autoschedule;

namespace {

Dag random_dag(std::mt19937 &rng, int nodes) {
    Dag dag;
    dag.producers.resize(static_cast<size_t>(nodes));
    dag.consumers.resize(static_cast<size_t>(nodes));
    for (int n = 1; n < nodes; n++) {
        const int edges = 1 + static_cast<int>(rng() % 2);
        for (int e = 0; e < edges; e++)
            dag.add_edge(static_cast<int>(rng() % static_cast<unsigned>(n)), n);
    }
    return dag;
}

/// Random positive costs per group, the same whenever asked; some groups are impossible.
struct RandomCost {
    unsigned seed;
    double operator()(const std::vector<int> &members) const {
        std::seed_seq sequence(members.begin(), members.end());
        std::vector<unsigned> words(2);
        sequence.generate(words.begin(), words.end());
        const unsigned h = (words[0] ^ seed) * 2654435761u;
        if (members.size() > 1 && h % 7 == 0)
            return infinite_cost;
        return 1 + h % 1000 + 200.0 * static_cast<double>(members.size());
    }
};

/// Cheapest of all partitions of the nodes that are valid.
double brute_force(const Dag &dag, const GroupCost &cost) {
    double best = infinite_cost;
    std::vector<std::vector<int>> groups;
    auto place = [&](auto &&self, int n) -> void {
        if (n == dag.size()) {
            if (!is_valid(dag, groups))
                return;
            double total = 0;
            for (const auto &g : groups)
                total += cost(g);
            best = std::min(best, total);
            return;
        }
        for (size_t g = 0; g < groups.size(); g++) {
            groups[g].push_back(n);
            self(self, n + 1);
            groups[g].pop_back();
        }
        groups.push_back({n});
        self(self, n + 1);
        groups.pop_back();
    };
    place(place, 0);
    return best;
}

Dag chain(int nodes) {
    Dag dag;
    dag.producers.resize(static_cast<size_t>(nodes));
    dag.consumers.resize(static_cast<size_t>(nodes));
    for (int n = 1; n < nodes; n++)
        dag.add_edge(n - 1, n);
    return dag;
}

}  // namespace

TEST_CASE("The dynamic program finds the cheapest of all valid groupings") {
    std::mt19937 rng(42);
    for (int round = 0; round < 120; round++) {
        const Dag dag = random_dag(rng, 2 + static_cast<int>(rng() % 7));
        const GroupCost cost = RandomCost{static_cast<unsigned>(round)};
        const Grouping found = group(dag, cost);
        INFO("round " << round);
        CHECK(found.complete);
        CHECK(is_valid(dag, found.groups));
        double total = 0;
        for (const auto &g : found.groups)
            total += cost(g);
        CHECK(total == found.cost);
        CHECK(found.cost == brute_force(dag, cost));
    }
}

TEST_CASE("A producer that is seen late can still join its reader") {
    // 0 -> 1 -> 2 -> 3 and 0 -> 3: the paper's forward walk never offers {2, 3} beside {1}.
    Dag dag = chain(4);
    dag.add_edge(0, 3);
    auto cost = [](const std::vector<int> &members) {
        return members == std::vector<int>{2, 3} ? 1.0 : members.size() == 1 ? 10.0 : 100.0;
    };
    const Grouping found = group(dag, cost);
    CHECK(found.groups == std::vector<std::vector<int>>{{0}, {1}, {2, 3}});
}

TEST_CASE("Groups that need each other are a cycle") {
    Dag dag = chain(3);
    dag.add_edge(0, 2);
    CHECK(has_cycle(dag, {{0, 2}, {1}}));
    CHECK_FALSE(has_cycle(dag, {{0, 1}, {2}}));
    CHECK_FALSE(is_valid(dag, {{0, 2}, {1}}));
    CHECK_FALSE(is_valid(dag, {{0, 1}, {2}}));  // 2 reads 0: two live-outs
    CHECK(is_valid(dag, {{0, 1, 2}}));
}

TEST_CASE("A chain of n stages takes n (n + 1) / 2 evaluations") {
    auto cost = [](const std::vector<int> &members) {
        return 1.0 / static_cast<double>(members.size());
    };
    const Grouping found = group(chain(12), cost);
    CHECK(found.evaluated == 12 * 13 / 2);
    CHECK(found.groups.size() == 1);
}

TEST_CASE(
    "Groups that cost more than their nodes alone are not extended where that is not worth it") {
    // Any group of two costs too much, all four together cost little.
    auto cost = [](const std::vector<int> &members) {
        return members.size() == 1 ? 10.0 : members.size() == 4 ? 1.0 : 21.0 * 2;
    };
    GroupingLimits limits;
    CHECK(group(chain(4), cost, limits).groups.size() == 1);
    limits.worth_extending = 2.5;
    CHECK(group(chain(4), cost, limits).groups.size() == 1);
    limits.worth_extending = 1;
    const Grouping found = group(chain(4), cost, limits);
    CHECK(found.groups.size() == 4);
    CHECK(found.cost == 40);
}

TEST_CASE("Bounded incremental grouping: small steps reach large groups") {
    auto cost = [](const std::vector<int> &members) {
        return 10 + static_cast<double>(members.size());
    };
    GroupingLimits limits;
    limits.group_limit = 3;
    const Grouping found = group_incrementally(chain(27), cost, limits);
    CHECK(found.groups.size() == 1);
    CHECK(found.cost == 37);
}

TEST_CASE("Bounded incremental grouping grows linearly with the chain") {
    auto cost = [](const std::vector<int> &members) {
        return 10 + static_cast<double>(members.size() * members.size());
    };
    GroupingLimits limits;
    limits.group_limit = 4;
    Pipe::support::on_deep_stack([&] {  // as the driver does
        const long small = group_incrementally(chain(250), cost, limits).evaluated;
        const Grouping large = group_incrementally(chain(1000), cost, limits);
        CHECK(large.evaluated <= 4.5 * static_cast<double>(small));
        CHECK(is_valid(chain(1000), large.groups));
    });
}

TEST_CASE("Limits of the memo cost optimality, never validity") {
    std::mt19937 rng(3);
    const Dag dag = random_dag(rng, 40);
    GroupingLimits limits;
    limits.states = 20;
    limits.groups_per_output = 8;
    limits.group_limit = 6;
    const Grouping found = group_incrementally(dag, RandomCost{1}, limits);
    CHECK(is_valid(dag, found.groups));
}
