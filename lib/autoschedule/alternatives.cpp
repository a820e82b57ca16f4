#include "autoschedule/alternatives.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "autoschedule/dimension_order.h"
#include "autoschedule/group_model.h"
#include "autoschedule/steps.h"
#include "autoschedule/strategies/strategies.h"

namespace Pipe::autoschedule {

namespace {

using graph::Graph;

/// Schedules that are predicted to take more times as long as the best are not worth a try.
constexpr double worst = 4;

/// Another machine, or another search, whose answer may be the better one here.
struct Variant {
    const char *name;
    void (*change)(Machine &, AutoscheduleOptions &);
};

using M = Machine;
using O = AutoscheduleOptions;

const Variant variants[] = {
    {"no fusion", [](M &, O &o) { o.group_limit = 1; }},
    {"groups of 2", [](M &, O &o) { o.group_limit = 2; }},
    {"groups of 4", [](M &, O &o) { o.group_limit = 4; }},
    {"smaller caches", [](M &m, O &) { m.l1_bytes /= 2, m.l2_bytes /= 2; }},
    {"larger caches", [](M &m, O &) { m.l1_bytes *= 2, m.l2_bytes *= 2; }},
    {"slower memory",
     [](M &m, O &) { m.l3_rate /= 2, m.dram_rate /= 2, m.dram_rate_all_cores /= 2; }},
    {"faster memory",
     [](M &m, O &) { m.l3_rate *= 2, m.dram_rate *= 2, m.dram_rate_all_cores *= 2; }},
    {"slower arithmetic", [](M &m, O &) { m.arithmetic_rate /= 2; }},
    {"faster arithmetic", [](M &m, O &) { m.arithmetic_rate *= 2; }},
    {"fewer registers", [](M &m, O &) { m.vector_registers /= 2; }},
    {"more registers", [](M &m, O &) { m.vector_registers += m.vector_registers / 2; }},
    {"cheaper tasks", [](M &m, O &) { m.task_overhead /= 8; }},
    {"costlier tasks", [](M &m, O &) { m.task_overhead *= 8; }},
    {"cheaper loops", [](M &m, O &) { m.row_overhead /= 4, m.nest_overhead /= 4; }},
    {"costlier loops", [](M &m, O &) { m.row_overhead *= 4, m.nest_overhead *= 4; }},
};

Tiling tiling_of(const Plan &plan) {
    return {plan.tile, plan.row_dim, plan.block, plan.step, plan.unrolled};
}

/// Predicted clocks of plans that were made for another machine.
double cost_of(const SearchResult &found, const Machine &machine) {
    double cost = 0;
    for (const Plan &plan : found.plans)
        cost += GroupModel(found.graph, machine, plan.members).evaluate(tiling_of(plan)).total;
    return cost;
}

/// Tilings that differ from this one in one respect.
std::vector<Tiling> neighbors(const Tiling &from, const std::vector<int64_t> &extents,
                              bool has_producers) {
    std::vector<Tiling> result;
    for (size_t d = 0; d < extents.size(); d++) {
        for (auto [times, over] : {std::pair{1, 4}, {1, 2}, {2, 1}, {4, 1}, {1 << 20, 1}}) {
            Tiling t = from;
            t.size[d] = std::clamp<int64_t>(t.size[d] * times / over, 1, extents[d]);
            if (t.size[d] != from.size[d])
                result.push_back(t);
        }
    }
    const int dims = static_cast<int>(extents.size());
    for (int row_dim = has_producers ? -1 : dims; row_dim < dims; row_dim++) {
        if (row_dim == from.row_dim || row_dim == 0)
            continue;
        Tiling t = from;
        t.row_dim = row_dim;
        t.block = row_dim < 0 ? 1 : t.block;
        t.inner = row_dim < 0 ? 1 : t.inner;
        result.push_back(t);
    }
    for (int64_t block : {1, 2, 4, 8}) {
        Tiling t = from;
        t.inner = t.block = block;
        if (block != from.block && from.row_dim > 0)
            result.push_back(t);
    }
    return result;
}

class Finder {
  public:
    Finder(const Graph &graph, const schedules::Schedule &user, const Sizes &sizes,
           const Machine &machine, const AutoscheduleOptions &options)
        : given_(graph), start_(with_loops(graph, user)), sizes_(sizes),
          graph_(with_ordered_dimensions(graph, start_, machine.gpu ? nullptr : &sizes_)),
          machine_(machine), options_(options),
          nodes_(stages_of(graph_, start_, sizes_, machine, report_)) {}

    std::vector<Alternative> run(size_t count, bool published) {
        best_ = search(nodes_, machine_, options_);
        const SearchResult chosen = search_by_strategy(nodes_, machine_, options_);
        std::vector<Option> kinds[] = {other_machines(), other_tilings()};
        for (auto &kind : kinds)
            std::stable_sort(kind.begin(), kind.end(),
                             [](const Option &a, const Option &b) { return a.cost < b.cost; });
        std::vector<Alternative> result{made({"auto", chosen.cost, chosen, machine_})};
        if (published)
            for (const Option &option : other_strategies())
                result.push_back(made(option));
        for (size_t i = 0; i < std::max(kinds[0].size(), kinds[1].size()); i++)
            for (const auto &kind : kinds)
                if (result.size() < count && i < kind.size() && kind[i].cost <= worst * best_.cost)
                    result.push_back(made(kind[i]));
        return result;
    }

  private:
    struct Option {
        std::string name;
        double cost = 0;
        SearchResult found;  ///< of a tiling: without the graph, which is that of best_
        Machine machine;
    };

    const Graph &given_;
    schedules::Schedule start_;
    Sizes sizes_;
    const Graph graph_;
    const Machine &machine_;
    const AutoscheduleOptions &options_;
    Report report_;
    const StageGraph nodes_;
    SearchResult best_;

    Alternative made(const Option &option) const {
        Alternative a{option.name, {}, start_, option.cost};
        SearchResult found = option.found;
        if (found.graph.nodes.empty())
            found.graph = best_.graph;
        a.graph = write_plans(found, graph_, option.machine, a.schedule);
        restore_dimensions(given_, a.graph, a.schedule);
        return a;
    }

    std::vector<Option> other_strategies() const {
        std::vector<Option> result;
        for (AutoscheduleOptions::Strategy strategy : AutoscheduleOptions::strategies) {
            AutoscheduleOptions options = options_;
            options.strategy = strategy;
            if (strategy != options_.strategy)
                result.push_back({"strategy " + to_string(strategy), 0,
                                  search_by_strategy(nodes_, machine_, options), machine_});
        }
        return result;
    }

    std::vector<Option> other_machines() const {
        std::vector<Option> result;
        for (const Variant &variant : variants) {
            Machine machine = machine_;
            AutoscheduleOptions options = options_;
            options.time_budget_ms /= 4;
            variant.change(machine, options);
            SearchResult found = search(nodes_, machine, options);
            const double cost = cost_of(found, machine_);
            result.push_back({variant.name, cost, std::move(found), machine});
        }
        return result;
    }

    /// Neighbors of the best tiling of each group, and of the best of these.
    std::vector<Option> other_tilings() const {
        std::vector<Option> result;
        for (size_t g = 0; g < best_.plans.size(); g++) {
            const Plan &plan = best_.plans[g];
            const Node &output = best_.graph.nodes[static_cast<size_t>(plan.output())];
            const GroupModel model(best_.graph, machine_, plan.members);
            std::vector<Plan> others = tilings(model, {plan}, output.extents);
            constexpr size_t nearest = 4;
            std::vector<Plan> good(others.begin(), others.begin() + static_cast<long>(std::min(
                                                                        nearest, others.size())));
            for (Plan &further : tilings(model, good, output.extents))
                others.push_back(std::move(further));
            for (Plan &other : others) {
                const double cost = best_.cost - plan.cost.total + other.cost.total;
                SearchResult changed;
                changed.plans = best_.plans;
                std::string name = name_of(output, tiling_of(other));
                changed.plans[g] = std::move(other);
                result.push_back({std::move(name), cost, std::move(changed), machine_});
            }
        }
        return result;
    }

    /// The possible neighbors of these plans of one group, those of lower cost first.
    static std::vector<Plan> tilings(const GroupModel &model, const std::vector<Plan> &from,
                                     const std::vector<int64_t> &extents) {
        std::vector<Plan> result;
        for (const Plan &plan : from)
            for (const Tiling &t : neighbors(tiling_of(plan), extents, plan.members.size() > 1))
                if (std::optional<Plan> other = model.plan_of(t))
                    result.push_back(std::move(*other));
        std::stable_sort(result.begin(), result.end(),
                         [](const Plan &a, const Plan &b) { return a.cost.total < b.cost.total; });
        return result;
    }

    std::string name_of(const Node &output, const Tiling &t) const {
        std::string name =
            fmt::format("{}: tile {}", graph_[output.id].variable, fmt::join(t.size, " x "));
        if (t.row_dim >= 0)
            name += t.block > 1 ? fmt::format(", {} rows at a time", t.block) : ", row by row";
        return name;
    }
};

}  // namespace

std::vector<Alternative> alternatives(const Graph &graph, const schedules::Schedule &user,
                                      const Sizes &sizes, const Machine &machine,
                                      const AutoscheduleOptions &options, size_t count,
                                      bool published) {
    try {
        return Finder(graph, user, sizes, machine, options).run(count, published);
    } catch (const Error &) {
        return {};  // schedule() has another way out
    }
}

}  // namespace Pipe::autoschedule
