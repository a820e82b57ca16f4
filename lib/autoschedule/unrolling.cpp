#include "autoschedule/unrolling.h"

#include <algorithm>
#include <memory>

#include "graph/unroll_updates.h"

namespace Pipe::autoschedule {

using graph::FuncNode;
using graph::Graph;
using schedules::LoopLevel;

namespace {

/// More values at a time do not fit registers, and longer sums have register blocks of their own.
constexpr int64_t most_iterations = 32;

bool names_loops_of(const schedules::StageSchedule &stage, FuncId func) {
    return stage.fuse_level.at() && stage.fuse_level.func == func;
}

/// Whether a directive places a Func in the loops of `func`.
bool hosts_any(const schedules::Schedule &user, FuncId func) {
    return std::any_of(user.funcs.begin(), user.funcs.end(), [&](const schedules::FuncSchedule &f) {
        auto is_there = [&](const LoopLevel &level) { return level.at() && level.func == func; };
        return is_there(f.compute) || is_there(f.store) || is_there(f.hoist) ||
               std::any_of(f.stages.begin(), f.stages.end(),
                           [&](const auto &stage) { return names_loops_of(stage, func); });
    });
}

bool is_unscheduled(const schedules::FuncSchedule &f) {
    return !f.touched && std::none_of(f.stages.begin(), f.stages.end(),
                                      [](const auto &stage) { return stage.touched; });
}

/// Whether it reads at coordinates such as y * 2 / 3 or y % 3: of these, blocks of sums have each phase once, but rows
/// of expressions all of them.
bool resamples(const Node &node) {
    return std::any_of(node.stages.begin(), node.stages.end(), [](const StageCost &stage) {
        return std::any_of(stage.loads.begin(), stage.loads.end(), [](const poly::Access &load) {
            return std::any_of(load.coords.begin(), load.coords.end(),
                               [](const auto &c) { return c.den > 1 || c.period > 0; });
        });
    });
}

}  // namespace

std::vector<FuncId> unrollable(const Graph &graph, const schedules::Schedule &user) {
    std::vector<FuncId> result;
    const std::vector<Role> roles = roles_of(graph, user);
    for (const FuncNode &f : graph.funcs) {
        std::string why;
        if (!f.has_updates() || roles[static_cast<size_t>(f.id)] != Role::Free ||
            !is_unscheduled(user[f.id]) || hosts_any(user, f.id))
            continue;
        const int64_t iterations = graph::unrolled_iterations(f, &why);
        if (iterations > 0 && iterations <= most_iterations)
            result.push_back(f.id);
    }
    return result;
}

void add_unrolled(StageGraph &graph, const StageGraph &unrolled, const std::vector<FuncId> &funcs) {
    // Of pure readers, directives on what they read may have other consequences.
    const bool same_roles = std::equal(
        graph.nodes.begin(), graph.nodes.end(), unrolled.nodes.begin(),
        [](const Node &a, const Node &b) { return a.role == b.role && a.inlined == b.inlined; });
    if (!same_roles)
        return;
    for (FuncId f : funcs) {
        const auto n = static_cast<size_t>(f);
        if (!resamples(graph.nodes[n]))
            graph.nodes[n].unrolled = std::make_shared<const Node>(unrolled.nodes[n]);
    }
}

void unroll(StageGraph &graph, int n) {
    Node &node = graph.nodes[static_cast<size_t>(n)];
    const std::shared_ptr<const Node> form = node.unrolled;
    node = *form;
    node.unrolled = form;
    node.is_unrolled = true;
    node.version = ~uint64_t{0};
    connect(graph);
}

std::vector<FuncId> unrolled_funcs(const StageGraph &graph) {
    std::vector<FuncId> result;
    for (const Node &node : graph.nodes)
        if (node.is_unrolled)
            result.push_back(node.id);
    return result;
}

}  // namespace Pipe::autoschedule
