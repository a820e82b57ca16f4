#include "autoschedule/report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace Pipe::autoschedule {

namespace {

std::string tile_text(const Plan &plan, const Node &output, const graph::FuncNode &func) {
    std::string text;
    for (size_t d = 0; d < plan.tile.size(); d++) {
        text += fmt::format("{}{} {} of {}", d ? ", " : "", func.args[d], plan.tile[d],
                            output.extents[d]);
    }
    return text;
}

std::string level_text(const Plan &plan, size_t m) {
    if (plan.levels[m] == Level::Tile)
        return plan.threads.empty() ? "per tile" : "per block, in shared memory";
    if (plan.levels[m] == Level::Thread)
        return "per thread, in registers";
    if (plan.levels[m] == Level::Block)
        return "per register block";
    const std::string text = plan.step > plan.block ? "per inner tile" : "row by row";
    return plan.slides[m] ? text + ", sliding window" : text;
}

std::string loop_text(const OutputLoop &loop, const graph::FuncNode &func) {
    if (loop.dim < 0)
        return "whole";
    const std::string &arg = func.args[static_cast<size_t>(loop.dim)];
    return loop.over_tiles ? "per tile of " + arg : "per " + arg;
}

std::string place_text(const Place &place, const graph::FuncNode &func) {
    const std::string text = "computed " + loop_text(place.compute, func);
    return place.store == place.compute ? text : text + ", stored " + loop_text(place.store, func);
}

std::string member_text(const Plan &plan, size_t m, const StageGraph &nodes,
                        const graph::FuncNode &output) {
    auto name = [&](size_t i) { return nodes.nodes[static_cast<size_t>(plan.members[i])].name; };
    const bool shares = !plan.shares.empty() && plan.shares[m] >= 0;
    return fmt::format(
        "    {}: {}{}\n", name(m),
        plan.places.empty() ? level_text(plan, m) : place_text(plan.places[m], output),
        shares ? ", in the loops of " + name(static_cast<size_t>(plan.shares[m])) : "");
}

std::string cost_text(const Cost &c) {
    if (c.published)
        return fmt::format("    cost, in the strategy's unit: {:.6g}\n", c.total);
    return fmt::format("    clocks: total {:.3g} = arithmetic {:.3g}, scans and scatters {:.3g}, "
                       "near memory {:.3g}, far memory "
                       "{:.3g}, overhead {:.3g}, imbalance {:.3f}\n"
                       "    scratch {:.1f} KiB per tile, live {:.2f} MiB, redundancy {:.1f} %\n",
                       c.total, c.arithmetic, c.updates, c.near_memory, c.far_memory, c.overhead,
                       c.imbalance, c.scratch_bytes / 1024, c.live_bytes / (1 << 20),
                       100 * c.redundancy);
}

std::string kernel_cost_text(const Cost &c) {
    return fmt::format(
        "    microseconds: total {:.3g}; arithmetic {:.3g}, shared memory {:.3g}, global memory "
        "{:.3g}, "
        "launches {:.3g}\n"
        "    shared memory {:.1f} KiB per block, global {:.2f} MiB, redundancy {:.1f} %\n",
        c.total / 1e3, c.arithmetic / 1e3, c.near_memory / 1e3, c.far_memory / 1e3,
        c.overhead / 1e3, c.scratch_bytes / 1024, c.live_bytes / (1 << 20), 100 * c.redundancy);
}

std::string list(const std::vector<std::string> &names) {
    std::string text;
    for (const std::string &n : names)
        text += (text.empty() ? "" : ", ") + n;
    return text;
}

}  // namespace

std::string report_text(const Report &report, const StageGraph &nodes, const graph::Graph &graph) {
    std::string text = "machine: " + to_string(report.machine) + "\n" +
                       "strategy: " + to_string(report.strategy) + "\n";
    for (size_t i = 0; i < report.plans.size(); i++) {
        const Plan &plan = report.plans[i];
        const Node &output = nodes.nodes[static_cast<size_t>(plan.output())];
        text += fmt::format("group {}: {}\n", i, output.name);
        text += "    tile: " + tile_text(plan, output, graph[output.id]);
        if (!plan.threads.empty())
            text += fmt::format("; kernel, threads {}", fmt::join(plan.threads, " x "));
        if (plan.parallel) {
            const auto d = static_cast<size_t>(plan.outer[0]);
            text += fmt::format("; parallel over {}", graph[output.id].args[d]);
        }
        if (plan.step > plan.block)
            text += fmt::format("; inner tiles of {} rows", plan.step);
        if (plan.unrolled >= 0)
            text += fmt::format("; {} unrolled",
                                graph[output.id].args[static_cast<size_t>(plan.unrolled)]);
        if (plan.block > 1)
            text += fmt::format("; {} rows at a time", plan.block);
        if (plan.streams)
            text += "; non-temporal stores (larger than the caches)";
        text += "\n";
        for (size_t m = 1; m < plan.members.size(); m++)
            text += member_text(plan, m, nodes, graph[output.id]);
        text += plan.threads.empty() ? cost_text(plan.cost) : kernel_cost_text(plan.cost);
    }
    if (!report.unrolled.empty())
        text += "updates unrolled: " + list(report.unrolled) + "\n";
    if (!report.inlined.empty())
        text += "inlined: " + list(report.inlined) + "\n";
    if (!report.packed.empty())
        text += "copied, elements side by side: " + list(report.packed) + "\n";
    if (!report.kept.empty())
        text += "scheduled by hand: " + list(report.kept) + "\n";
    for (const std::string &note : report.notes)
        text += "note: " + note + "\n";
    text +=
        fmt::format("search: {} groups evaluated{}, access maps {:.2f} ms, grouping {:.2f} ms\n",
                    report.groups_evaluated, report.complete ? "" : " (bounded)", report.model_ms,
                    report.search_ms);
    return text;
}

}  // namespace Pipe::autoschedule
