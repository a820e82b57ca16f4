#include "autoschedule/inlining.h"

#include <algorithm>
#include <numeric>

#include "autoschedule/substitute.h"

namespace Pipe::autoschedule {

using poly::Access;
using poly::Coordinate;

namespace {

constexpr size_t most_loads = 64;  ///< per iteration; beyond this, there is heavy register spilling
constexpr double most_written = 20000;  ///< instructions: they have to be compiled
constexpr double table_bytes = 8192;    ///< of one that stays in L1 beside what its readers need
constexpr double worth_looking_up = 30;  ///< instructions: as many as a call takes
/// Algorithm 3 does not weigh what it inlines.
constexpr double most_written_in_group = 500;

bool can_inline(const StageGraph &graph, int n) {
    const Node &node = graph.nodes[static_cast<size_t>(n)];
    return !node.inlined && node.role == Role::Free && !node.is_output && !node.is_operand &&
           !node.has_updates() && !node.on_host && !node.consumers.empty();
}

/// Tests of boundary conditions are free where loops are partitioned into interior and edges. Those that sums would
/// make stay, and keep the register blocks of the sums from having several points along the tested dimension.
bool has_free_tests(const StageGraph &graph, int n) {
    const Node &node = graph.nodes[static_cast<size_t>(n)];
    auto has_sums = [&](int c) {
        const auto &stages = graph.nodes[static_cast<size_t>(c)].stages;
        return std::any_of(stages.begin(), stages.end(),
                           [](const StageCost &stage) { return !stage.rvars.empty(); });
    };
    return node.stages[0].arithmetic.tests == 0 ||
           std::none_of(node.consumers.begin(), node.consumers.end(), has_sums);
}

/// Of one element, if at all.
bool is_copy(const StageGraph &graph, int n) {
    const StageCost &pure = graph.nodes[static_cast<size_t>(n)].stages[0];
    return pure.arithmetic.total() == 0 && pure.loads.size() <= 1 && has_free_tests(graph, n);
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

/// A copy that a sum reads which reads the copied Func at another place, too, as products of a matrix and its transpose
/// do. If it is stored, each of the two operands has a layout of its own.
bool is_second_operand(const StageGraph &graph, int n) {
    const Node &node = graph.nodes[static_cast<size_t>(n)];
    const std::vector<Access> &copied = node.stages[0].loads;
    if (!is_copy(graph, n) || copied.size() != 1 || node.consumers.size() != 1)
        return false;
    const auto &stages = graph.nodes[static_cast<size_t>(node.consumers[0])].stages;
    return std::any_of(stages.begin(), stages.end(), [&](const StageCost &stage) {
        auto reads = [&](auto &&what) {
            return std::any_of(stage.loads.begin(), stage.loads.end(), what);
        };
        return !stage.rvars.empty() &&
               reads([&](const Access &load) { return load.func == node.id; }) &&
               reads([&](const Access &load) { return load.same_buffer(copied[0]); });
    });
}

/// Whether it is computed one element after the other where it is inlined, as in a scatter, which has no vectors.
bool loses_vectors(const StageGraph &graph, int n) {
    const Node &node = graph.nodes[static_cast<size_t>(n)];
    return std::any_of(node.consumers.begin(), node.consumers.end(), [&](int c) {
        const auto &stages = graph.nodes[static_cast<size_t>(c)].stages;
        return std::any_of(stages.begin(), stages.end(), [&](const StageCost &stage) {
            return stage.scatters && !stage.has_vectors() &&
                   std::any_of(stage.loads.begin(), stage.loads.end(),
                               [&](const Access &load) { return load.func == node.id; });
        });
    });
}

bool is_free_of_cost(const StageGraph &graph, int n) {
    if (is_copy(graph, n))
        return !is_second_operand(graph, n);
    if (loses_vectors(graph, n))
        return false;
    const Uses uses = uses_of(graph, n);
    const double points = graph.nodes[static_cast<size_t>(n)].points();
    return uses.along_rows && uses.evaluations <= 1.05 * points &&
           fits_after_substitute(graph, n, most_loads, most_written);
}

/// The loads of `producer`, over all stages of a consumer.
std::vector<const Access *> loads_of(const Node &consumer, FuncId producer) {
    std::vector<const Access *> result;
    for (const StageCost &stage : consumer.stages)
        for (const Access &load : stage.loads)
            if (load.func == producer)
                result.push_back(&load);
    return result;
}

/// A small table whose values take long: looking one up is always cheaper than computing it again, the more so in a loop
/// that keeps sums in registers, which a call does not preserve. At constant coordinates, it is a constant.
bool is_table(const StageGraph &graph, int n) {
    const Node &node = graph.nodes[static_cast<size_t>(n)];
    const Arithmetic &work = node.stages[0].arithmetic;
    auto is_constant = [](const Access *load) {
        return std::all_of(load->coords.begin(), load->coords.end(), [](const Coordinate &c) {
            return c.iterator < 0 && c.distance.is_point();
        });
    };
    auto reads_constants = [&](int c) {
        const auto loads = loads_of(graph.nodes[static_cast<size_t>(c)], node.id);
        return std::all_of(loads.begin(), loads.end(), is_constant);
    };
    return node.points() * node.bytes <= table_bytes &&
           work.total() >= worth_looking_up * work.widest &&
           uses_of(graph, n).evaluations > 2 * node.points() &&
           !std::all_of(node.consumers.begin(), node.consumers.end(), reads_constants);
}

/// At the coordinates of the reader, or at constant ones.
bool is_here(const Access &load) {
    return std::all_of(load.coords.begin(), load.coords.end(), [](const Coordinate &c) {
        const bool same_rate = c.iterator < 0 || (c.num == 1 && c.den == 1);
        return same_rate && c.distance.is_point() && (c.iterator < 0 || c.distance.min == 0);
    });
}

/// No element is accessed by both, in any iterations: other ranges, or 2 * x against 2 * x + 1.
bool are_disjoint(const Access &a, const Access &b) {
    for (size_t d = 0; d < a.coords.size(); d++) {
        const Coordinate &p = a.coords[d], &q = b.coords[d];
        if (p.range.max < q.range.min || q.range.max < p.range.min)
            return true;
        const int64_t stride = std::gcd(p.num, q.num);
        const bool exact =
            p.den == 1 && q.den == 1 && p.distance.is_point() && q.distance.is_point();
        if (exact && stride > 1 && (p.distance.min - q.distance.min) % stride != 0)
            return true;
    }
    return false;
}

/// nonOverlappingConsumers: every consumer reads one element per iteration, none of them the same.
bool has_disjoint_consumers(const StageGraph &graph, int n) {
    const Node &node = graph.nodes[static_cast<size_t>(n)];
    std::vector<const Access *> all;
    for (int c : node.consumers) {
        const auto loads = loads_of(graph.nodes[static_cast<size_t>(c)], node.id);
        if (loads.size() != 1)
            return false;
        all.push_back(loads[0]);
    }
    for (size_t i = 0; i < all.size(); i++)
        for (size_t k = 0; k < i; k++)
            if (!are_disjoint(*all[i], *all[k]))
                return false;
    return true;
}

/// Whether Algorithm 3 inlines it: nothing is computed twice, or only what is pointwise.
bool inlines_in_group(const StageGraph &graph, int n) {
    if (is_pointwise(graph, n))
        return true;
    const Node &node = graph.nodes[static_cast<size_t>(n)];
    if (node.consumers.size() > 1)
        return has_disjoint_consumers(graph, n);
    const Node &consumer = graph.nodes[static_cast<size_t>(node.consumers[0])];
    const auto loads = loads_of(consumer, node.id);
    return consumer.dims() <= node.dims() &&
           std::all_of(loads.begin(), loads.end(),
                       [](const Access *load) { return is_here(*load); });
}

/// Inlines the nodes for which this holds, consumers first, until there is none.
template <typename F> void inline_all(StageGraph &graph, F &&wanted) {
    bool changed = true;
    while (changed) {
        changed = false;
        for (size_t n = graph.nodes.size(); n-- > 0;) {
            if (!wanted(static_cast<int>(n)))
                continue;
            substitute(graph, static_cast<int>(n));
            changed = true;
        }
    }
}

}  // namespace

void inline_free_of_cost(StageGraph &graph) {
    inline_all(graph, [&](int n) { return can_inline(graph, n) && is_free_of_cost(graph, n); });
}

void inline_copies(StageGraph &graph) {
    inline_all(graph, [&](int n) { return can_inline(graph, n) && is_copy(graph, n); });
}

std::vector<int> inline_in_group(StageGraph &graph, const std::vector<int> &members) {
    std::vector<int> left = members;
    bool changed = true;
    while (changed) {
        changed = false;
        for (size_t i = left.size() - 1; i-- > 0;) {
            if (!can_inline(graph, left[i]) || !inlines_in_group(graph, left[i]) ||
                !fits_after_substitute(graph, left[i], most_loads, most_written_in_group))
                continue;
            substitute(graph, left[i]);
            left.erase(left.begin() + static_cast<std::ptrdiff_t>(i));
            changed = true;
        }
    }
    return left;
}

bool is_inlining_choice(const StageGraph &graph, int n) {
    if (!can_inline(graph, n) || is_table(graph, n))
        return false;
    const Uses uses = uses_of(graph, n);
    return uses.loads <= 32 && uses.along_rows &&
           fits_after_substitute(graph, n, most_loads, most_written);
}

bool may_inline(const StageGraph &graph, int n) {
    const bool copy = can_inline(graph, n) && is_copy(graph, n);
    return is_inlining_choice(graph, n) ||
           (copy && fits_after_substitute(graph, n, most_loads, most_written));
}

bool is_pointwise(const StageGraph &graph, int n) {
    const Node &node = graph.nodes[static_cast<size_t>(n)];
    return std::all_of(node.stages[0].loads.begin(), node.stages[0].loads.end(), is_here);
}

bool is_trivial(const StageGraph &graph, int n) {
    const Node &node = graph.nodes[static_cast<size_t>(n)];
    const StageCost &pure = node.stages[0];
    return is_copy(graph, n) ||
           (pure.own.count <= static_cast<double>(pure.loads.size()) && is_pointwise(graph, n));
}

bool recompute_is_cheaper(const StageGraph &graph, int n) {
    if (!can_inline(graph, n))
        return false;
    const Node &node = graph.nodes[static_cast<size_t>(n)];
    const Uses uses = uses_of(graph, n);
    if (!uses.along_rows || !has_free_tests(graph, n) ||
        !fits_after_substitute(graph, n, most_loads, most_written))
        return false;
    const double times = uses.evaluations / std::max(1.0, node.points());
    const double loads = static_cast<double>(node.stages[0].loads.size()) * node.bytes;
    const double compute_again = (times - 1) * node.stages[0].arithmetic.total() + times * loads;
    const double keep =
        2 * node.bytes + times * node.bytes;  // a store and its address, and the loads
    return compute_again <= keep;
}

}  // namespace Pipe::autoschedule
