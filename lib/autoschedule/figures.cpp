#include "autoschedule/figures.h"

namespace Pipe::autoschedule {

namespace {

MemberFigure member_figure(const Node &node, const std::vector<int64_t> &extents) {
    MemberFigure figure{node.name, extents, static_cast<double>(node.bytes)};
    for (int64_t extent : extents)
        figure.bytes *= static_cast<double>(extent);
    return figure;
}

}  // namespace

GroupFigure figure_of(const Plan &plan, const StageGraph &nodes, const graph::Graph &graph) {
    auto node = [&](size_t m) -> const Node & {
        return nodes.nodes[static_cast<size_t>(plan.members[m])];
    };
    const Node &output = node(0);
    GroupFigure figure;
    figure.name = output.name;
    figure.args = graph[output.id].args;
    figure.tile = plan.tile;
    figure.extents = output.extents;
    if (plan.parallel && !plan.outer.empty())
        figure.parallel = figure.args[static_cast<size_t>(plan.outer[0])];
    figure.is_kernel = !plan.threads.empty();
    for (size_t m = 1; m < plan.members.size(); m++)
        figure.members.push_back(member_figure(node(m), plan.extents[m]));
    const Cost &cost = plan.cost;
    figure.scratch_bytes = cost.scratch_bytes;
    figure.redundancy = cost.redundancy;
    figure.cost = cost.total;
    for (const auto &[name, value] :
         {std::pair{"arithmetic", cost.arithmetic},
          {"scans and scatters", cost.updates},
          {figure.is_kernel ? "shared memory" : "near memory", cost.near_memory},
          {figure.is_kernel ? "global memory" : "far memory", cost.far_memory},
          {figure.is_kernel ? "launches" : "overhead", cost.overhead}})
        if (value > 0)
            figure.terms.emplace_back(name, value);
    return figure;
}

}  // namespace Pipe::autoschedule
