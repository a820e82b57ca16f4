#include "autoschedule/substitute.h"

#include <algorithm>

namespace Pipe::autoschedule {

using poly::Access;
using poly::Range;

namespace {

void add_distinct(std::vector<Access> &loads, Access load) {
    const bool known = std::any_of(loads.begin(), loads.end(),
                                   [&](const Access &other) { return other.same_element(load); });
    if (!known)
        loads.push_back(std::move(load));
}

/// The loads of `stage` once `producer` is substituted. Stops where there are more than `limit`.
std::vector<Access> substituted_loads(const StageCost &stage, const Node &producer,
                                      size_t limit = SIZE_MAX) {
    std::vector<Access> loads;
    for (const Access &load : stage.loads) {
        if (loads.size() > limit)
            break;
        if (load.func != producer.id) {
            add_distinct(loads, load);
            continue;
        }
        for (const Access &inner : producer.stages[0].loads)
            add_distinct(loads, poly::compose(inner, load.coords));
    }
    return loads;
}

/// Of `stage`, once `producer` is substituted.
double written_with(const StageCost &stage, const Node &producer) {
    const auto calls = stage.calls.find(producer.id);
    return stage.written +
           (calls == stage.calls.end() ? 0 : calls->second * producer.stages[0].written);
}

void add_calls(StageCost &stage, const Node &producer) {
    stage.written = written_with(stage, producer);
    const auto replaced = stage.calls.find(producer.id);
    if (replaced == stage.calls.end())
        return;
    const double times = replaced->second;
    stage.calls.erase(replaced);
    for (const auto &[func, count] : producer.stages[0].calls)
        stage.calls[func] += times * count;
}

void add_evaluated(StageCost &stage, Evaluated value) {
    const bool known = std::any_of(stage.evaluated.begin(), stage.evaluated.end(),
                                   [&](const Evaluated &other) { return other.same_part(value); });
    if (known)
        return;
    stage.arithmetic.add(value.arithmetic, 1);
    stage.evaluated.push_back(std::move(value));
}

/// The access with 0 in the dimensions of what it reads that are not among `variables`.
Access in_dimensions(Access access, uint64_t variables) {
    poly::Coordinate zero;
    zero.distance = zero.steady = zero.range = Range::point(0);
    for (size_t d = 0; d < access.coords.size(); d++)
        if (!(variables >> d & 1))
            access.coords[d] = zero;
    return access;
}

/// What `stage` evaluates once `producer` is substituted, which itself evaluates others.
void add_values(StageCost &stage, const Node &producer) {
    for (const Access &load : stage.loads) {
        if (load.func != producer.id)
            continue;
        for (const Work &part : producer.stages[0].own_work)
            if (part.arithmetic.count > 0)
                add_evaluated(stage, {stage.in_loops(part.arithmetic), part.variables,
                                      in_dimensions(load, part.variables)});
        for (const Evaluated &inner : producer.stages[0].evaluated)
            add_evaluated(stage, {stage.in_loops(inner.arithmetic), inner.variables,
                                  poly::compose(inner.at, load.coords)});
    }
}

}  // namespace

void substitute(StageGraph &graph, int node) {
    Node &producer = graph.nodes[static_cast<size_t>(node)];
    for (int c : producer.consumers) {
        Node &consumer = graph.nodes[static_cast<size_t>(c)];
        // The sum must not depend on the order in which producers are inlined.
        consumer.version +=
            ((producer.version ^ static_cast<uint64_t>(node + 1)) * 0x9e3779b97f4a7c15u) | 1;
        for (StageCost &stage : consumer.stages) {
            add_calls(stage, producer);
            add_values(stage, producer);
            stage.loads = substituted_loads(stage, producer);
        }
        summarize_reads(consumer);
    }
    producer.inlined = true;
    connect(graph);
}

bool fits_after_substitute(const StageGraph &graph, int node, size_t most_loads,
                           double most_written) {
    const Node &producer = graph.nodes[static_cast<size_t>(node)];
    for (int c : producer.consumers) {
        for (const StageCost &stage : graph.nodes[static_cast<size_t>(c)].stages) {
            if (written_with(stage, producer) > most_written ||
                substituted_loads(stage, producer, most_loads).size() > most_loads)
                return false;
        }
    }
    return true;
}

}  // namespace Pipe::autoschedule
