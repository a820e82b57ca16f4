#include "jit/runtime/gpu/cuda/launch_graphs.h"

#include <algorithm>
#include <cstring>

namespace Pipe::runtime::cuda {

namespace {

bool same_kernel(const LaunchGraph::Node &node, const PreparedLaunch &launch) {
    const KernelNode &a = node.kernel, &b = launch.kernel;
    return a.function == b.function && node.module == launch.module &&
           std::equal(a.blocks, a.blocks + 3, b.blocks) &&
           std::equal(a.threads, a.threads + 3, b.threads) && a.shared_bytes == b.shared_bytes;
}

/// Of launches that were not there before.
LaunchGraph graph_of(CUstream stream, const std::vector<PreparedLaunch> &launches) {
    LaunchGraph graph;
    graph.stream = stream;
    graph.nodes.reserve(launches.size());
    for (const PreparedLaunch &l : launches) {
        graph.nodes.push_back({l.kernel, l.module, nullptr, {}});
        graph.nodes.back().kernel.params = nullptr;
    }
    return graph;
}

size_t value_bytes(const LaunchList &values, size_t i) {
    return static_cast<size_t>(values[i].launch.param_bytes);
}

bool has_values(const LaunchGraph::Node &node, const LaunchList &values, size_t i) {
    const size_t bytes = value_bytes(values, i);
    return node.values.size() == bytes &&
           std::memcmp(node.values.data(), values.values(i), bytes) == 0;
}

}  // namespace

LaunchGraph *LaunchGraphs::take(CUstream stream, const std::vector<PreparedLaunch> &launches) {
    std::lock_guard lock(mutex_);
    auto found = std::find_if(graphs_.begin(), graphs_.end(), [&](const LaunchGraph &g) {
        return g.stream == stream && std::equal(g.nodes.begin(), g.nodes.end(), launches.begin(),
                                                launches.end(), same_kernel);
    });
    if (found == graphs_.end()) {
        graphs_.push_front(graph_of(stream, launches));
        auto oldest = std::prev(graphs_.end());
        if (graphs_.size() > most && !oldest->busy) {
            destroy(*oldest);
            graphs_.erase(oldest);
        }
        return nullptr;
    }
    graphs_.splice(graphs_.begin(), graphs_, found);
    if (found->busy || found->refused)
        return nullptr;
    found->busy = true;
    return &*found;
}

void LaunchGraphs::give(LaunchGraph &graph, bool refused) noexcept {
    std::lock_guard lock(mutex_);
    graph.busy = false;
    if (!refused)
        return;
    graph.refused = true;
    destroy(graph);
}

Answer LaunchGraphs::make(LaunchGraph &graph, const std::vector<PreparedLaunch> &launches) {
    if (CUresult r = driver_.GraphCreate(&graph.graph, 0); r != Success)
        return {r, "cuGraphCreate"};
    for (size_t i = 0; i < launches.size(); i++) {
        const CUgraphNode *before = i > 0 ? &graph.nodes[i - 1].node : nullptr;
        if (CUresult r = driver_.GraphAddKernelNode(&graph.nodes[i].node, graph.graph, before,
                                                    i > 0 ? 1 : 0, &launches[i].kernel);
            r != Success)
            return {r, "cuGraphAddKernelNode"};
    }
    return {driver_.GraphInstantiate(&graph.exec, graph.graph, 0), "cuGraphInstantiateWithFlags"};
}

Answer LaunchGraphs::prepare(LaunchGraph &graph, const std::vector<PreparedLaunch> &launches,
                             const LaunchList &values) {
    const bool is_new = !graph.exec;
    if (is_new)
        if (Answer made = make(graph, launches); made.result != Success)
            return made;
    for (size_t i = 0; i < launches.size(); i++) {
        LaunchGraph::Node &node = graph.nodes[i];
        if (has_values(node, values, i))
            continue;
        if (!is_new)
            if (CUresult r = driver_.GraphExecSetParams(graph.exec, node.node, &launches[i].kernel);
                r != Success)
                return {r, "cuGraphExecKernelNodeSetParams"};
        node.values.assign(values.values(i), value_bytes(values, i));
    }
    return {};
}

Answer LaunchGraphs::launch(LaunchGraph &graph) {
    return {driver_.GraphLaunch(graph.exec, graph.stream), "cuGraphLaunch"};
}

/// What runs still ends first. A failure is no one's business.
void LaunchGraphs::destroy(LaunchGraph &graph) noexcept {
    if (graph.exec)
        driver_.GraphExecDestroy(graph.exec);
    if (graph.graph)
        driver_.GraphDestroy(graph.graph);
    graph.exec = nullptr;
    graph.graph = nullptr;
}

void LaunchGraphs::drop(CUmodule module) noexcept {
    std::lock_guard lock(mutex_);
    std::erase_if(graphs_, [&](LaunchGraph &g) {
        const bool uses = std::any_of(g.nodes.begin(), g.nodes.end(),
                                      [&](const auto &node) { return node.module == module; });
        if (uses)
            destroy(g);
        return uses;
    });
}

}  // namespace Pipe::runtime::cuda
