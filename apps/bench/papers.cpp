#include "apps/bench/papers.h"

#include "apps/bench/figures.h"
#include "apps/bench/ours.h"

#include "autoschedule/inlining.h"
#include "autoschedule/steps.h"
#include "autoschedule/strategies/dp_fusion.h"
#include "autoschedule/strategies/enumeration.h"
#include "autoschedule/strategies/strategies.h"
#include "language/freeze.h"
#include "language/replay.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>
#include <omp.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <tuple>

namespace bench {
namespace {

namespace scheduler = Pipe::autoschedule;

constexpr long most_enumerated = 200000;  ///< of large applications
using Pipe::AutoscheduleOptions;

/// Jangda 2020, Table 1 (images) and Table 9 (grids).
const std::map<std::string, Enumerated> paper_counts = {
    {"unsharp", {4, {10, -1, -1, -1}, "Table 1"}},
    {"harris", {11, {104, -1, -1, -1}, "Table 1"}},
    {"bilateral_grid_a", {7, {16, -1, -1, -1}, "Table 1"}},
    {"interpolate", {49, {741, -1, -1, -1}, "Table 1"}},
    {"camera_pipe", {32, {12227, 12227, 3825, 1631}, "Table 1"}},
    {"pyramid_blend", {44, {27108, 26952, 7809, 923}, "Table 1"}},
    {"flux_div", {4, {10, -1, -1, -1}, "Table 9"}},
    {"multigrid_2d_v_4_4_4", {34, {2926, 1936, 1096, 580}, "Table 9"}},
    {"multigrid_2d_v_10_0_0", {7, {595, -1, -1, -1}, "Table 9"}},
    {"multigrid_2d_w_4_4_4", {102, {415, 306, 305, 195}, "Table 9"}},
    {"multigrid_2d_w_10_0_0", {76, {2926, 1936, 1096, 580}, "Table 9"}},
    {"multigrid_3d_v_4_4_4", {37, {703, 688, 472, 268}, "Table 9"}},
    {"multigrid_3d_v_10_0_0", {36, {666, 656, 456, 260}, "Table 9"}},
    {"multigrid_3d_w_4_4_4", {109, {435, 383, 199, 47}, "Table 9"}},
    {"multigrid_3d_w_10_0_0", {79, {3160, 2032, 1144, 604}, "Table 9"}},
};

using Search =
    std::function<scheduler::SearchResult(const scheduler::StageGraph &, const scheduler::Machine &)>;

/// Every strategy, and DPFusion without each of its parts (the paper's Figure 8).
std::vector<std::pair<std::string, Search>> searches() {
    std::vector<std::pair<std::string, Search>> result;
    for (AutoscheduleOptions::Strategy strategy : AutoscheduleOptions::strategies) {
        AutoscheduleOptions options;
        options.strategy = strategy;
        result.emplace_back(to_string(strategy), [=](const auto &graph, const auto &machine) {
            return scheduler::search_by_strategy(graph, machine, options);
        });
    }
    const std::pair<const char *, scheduler::FusionParts> without[] = {
        {"  without inlining", {.inlining = false}},
        {"  one level of tiles", {.two_levels = false}},
        {"  separate loops", {.shared_loops = false}},
        {"  tiles of 32 x 256", {.tile_model = false}},
        {"  greedy grouping", {.dynamic_programming = false}},
    };
    for (const auto &[name, parts] : without) {
        result.emplace_back(name, [parts = parts](const auto &graph, const auto &machine) {
            return scheduler::dp_fusion(graph, machine, {}, parts);
        });
    }
    return result;
}

/// The application's pipeline as a scheduler sees it.
class Scheduling {
  public:
    Scheduling(const apps::App &app, const Data &data, const Pipe::Target &target)
        : program_(app.make()), machine_(scheduler::host_machine(target)) {
        apps::set_inputs(*program_, data.inputs);
        frozen_ = Pipe::language::freeze({program_->output()}, target);
        scheduler::Sizes sizes;
        sizes.outputs = {shape(data.output)};
        for (size_t i = 0; i < data.inputs.size(); ++i)
            sizes.images[program_->inputs[i].name()] = shape(data.inputs[i]);
        start_ = scheduler::with_loops(frozen_.graph, frozen_.schedule);
        scheduler::Report notes;
        nodes_ = scheduler::stages_of(frozen_.graph, start_, sizes, machine_, notes);
    }

    /// Searches, gives the schedule to the Funcs, and says what was found.
    void schedule(const Search &search, PapersRow &row) {
        const auto begin = std::chrono::steady_clock::now();
        const scheduler::SearchResult found = search(nodes_, machine_);
        row.search_ms =
            std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin)
                .count();
        row.evaluated = found.evaluated;
        row.groups = int(found.plans.size());
        for (const scheduler::Plan &plan : found.plans) {
            row.all_tiles.push_back(tile_text(plan));
            if (plan.members.size() <= row.largest)
                continue;
            row.largest = plan.members.size();
            row.largest_tile = row.all_tiles.back();
        }
        Pipe::language::Frozen scheduled = frozen_;
        scheduled.schedule = start_;
        scheduler::write_plans(found, frozen_.graph, machine_, scheduled.schedule);
        const std::vector<Pipe::Func> outputs = {program_->output()};
        Pipe::language::replay(outputs, Pipe::language::portable(outputs, scheduled));
    }

    Pipe::Pipeline pipeline() const { return Pipe::Pipeline(program_->output()); }

    /// The groups that the dynamic programs enumerate by the structure alone, whatever they cost: of all
    /// stages but copies; reductions are groups of their own. As the paper counts them, and Pipe's.
    std::pair<Enumerated, Enumerated> enumerate() const {
        scheduler::StageGraph graph = nodes_;
        scheduler::inline_copies(graph);
        std::vector<int> nodes;
        const scheduler::Dag dag = scheduler::dag_of(graph, nodes);
        std::vector<bool> alone;
        for (int n : nodes)
            alone.push_back(graph.nodes[size_t(n)].has_updates());
        const scheduler::GroupCost cost = [&](const std::vector<int> &members) {
            const bool possible =
                members.size() == 1 || std::none_of(members.begin(), members.end(),
                                                    [&](int n) { return alone[size_t(n)]; });
            return possible ? 1.0 : scheduler::infinite_cost;
        };
        Enumerated as_paper, ours;
        as_paper.stages = ours.stages = dag.size();
        for (size_t i = 0; i < group_limits.size(); ++i) {
            scheduler::GroupingLimits limits;
            limits.extends_impossible = false;
            limits.groups_per_output = most_enumerated / std::max(1, dag.size());
            limits.group_limit = group_limits[i] > 0 ? group_limits[i] : dag.size();
            ours.groups[i] = scheduler::group(dag, cost, limits).evaluated;
            as_paper.groups[i] = scheduler::groups_grown_forward(
                dag, alone, limits.group_limit + (group_limits[i] == 0), most_enumerated);
        }
        return {as_paper, ours};
    }

  private:
    static std::vector<scheduler::Sizes::Dim> shape(const Pipe::Buffer<> &buffer) {
        std::vector<scheduler::Sizes::Dim> dims;
        for (int d = 0; d < buffer.dimensions(); ++d)
            dims.push_back({buffer.dim(d).min(), buffer.dim(d).extent()});
        return dims;
    }

    /// Outermost first, as the paper writes them: "42 x 5 x 256" has inner tiles of five rows.
    static std::string tile_text(const scheduler::Plan &plan) {
        std::vector<std::string> sizes;
        for (size_t d = plan.tile.size(); d-- > 0;) {
            sizes.push_back(std::to_string(plan.tile[d]));
            if (plan.row_dim == int(d))
                sizes.back() += fmt::format("/{}", plan.step);
        }
        return fmt::format("{}", fmt::join(sizes, " x "));
    }

    std::unique_ptr<apps::Program> program_;
    Pipe::language::Frozen frozen_;
    Pipe::schedules::Schedule start_;
    scheduler::Machine machine_;
    scheduler::StageGraph nodes_;
};

std::string count_text(long count) {
    if (count >= most_enumerated)
        return fmt::format("more than {}", most_enumerated - 1);
    return count < 0 ? "-" : std::to_string(count);
}

void print_counts(const char *who, const Enumerated &counts) {
    fmt::print("    {:<22} {:>4} stages; groups of up to", who, counts.stages);
    for (size_t i = 0; i < group_limits.size(); ++i)
        fmt::print("{} {}: {}", i ? "," : "",
                   group_limits[i] > 0 ? std::to_string(group_limits[i]) : "any number",
                   count_text(counts.groups[i]));
    fmt::print("\n");
}

}  // namespace

bool PapersResult::good() const {
    return std::all_of(rows.begin(), rows.end(),
                       [](const PapersRow &row) { return row.variant.failure.empty(); });
}

bool is_in_papers(const apps::App &app) {
    return paper_counts.count(app.name) > 0;
}

PapersResult measure_papers(const apps::App &app, apps::Size size, const PapersOptions &options) {
    omp_set_num_threads(options.threads);
    const Data data = make_data(app, size);
    const Pipe::Target target = Pipe::get_host_target().with_feature(Pipe::Target::FastMath);
    PapersResult result{&app, size, {}, {}, {}, {}};
    if (is_in_papers(app))
        result.paper = paper_counts.at(app.name);
    std::vector<Variant> variants = our_variants(
        app, data, options.threads, [](const std::string &name) { return name == "hand"; });
    result.rows.resize(1);
    for (const auto &[name, search] : searches()) {
        options.progress(app.name + ": " + name);
        Scheduling scheduling(app, data, target);
        if (result.rows.size() == 1)
            std::tie(result.as_paper, result.ours) = scheduling.enumerate();
        PapersRow &row = result.rows.emplace_back();
        variants.push_back(pipe_variant(name, target, data.output, [&, search = search] {
            scheduling.schedule(search, row);
            return scheduling.pipeline();
        }));
    }
    check(variants, data.output, app.tolerance, [](int) {});
    sample(variants, options.samples, options.budget_s, [&](int round) {
        options.progress(fmt::format("{}: round {} of {}", app.name, round, options.samples));
    });
    options.progress("");
    for (size_t i = 0; i < variants.size(); ++i) {
        result.rows[i].variant = std::move(variants[i]);
        result.rows[i].variant.run = nullptr;  // it refers to arrays that no longer exist
    }
    return result;
}

void print_papers(const PapersResult &r) {
    fmt::print("{}: {}, {} x {}\n", r.app->name, r.app->title, r.size.width, r.size.height);
    if (!r.paper.table.empty())
        print_counts(("Jangda 2020, " + r.paper.table).c_str(), r.paper);
    print_counts("counted as there", r.as_paper);
    print_counts("one live-out each", r.ours);
    const double best = [&] {
        for (const PapersRow &row : r.rows)
            if (row.variant.name == "Best" && was_sampled(row.variant))
                return minimum(row.variant.times_ms);
        return 0.0;
    }();
    fmt::print("    {:<22} {:>6} {:>8} {:>24} {:>10} {:>9} {:>10} {:>10} {:>7}\n", "", "groups",
               "largest", "its tiles", "evaluated", "search ms", "median ms", "min ms", "/ Best");
    for (const PapersRow &row : r.rows) {
        fmt::print("    {:<22} ", row.variant.name);
        if (row.search_ms >= 0)
            fmt::print("{:>6} {:>8} {:>24} {:>10} {:>9.1f} ", row.groups, row.largest,
                       row.largest_tile, row.evaluated, row.search_ms);
        else
            fmt::print("{:>6} {:>8} {:>24} {:>10} {:>9} ", "", "", "", "", "");
        if (was_sampled(row.variant))
            fmt::print("{:>10.3f} {:>10.3f} {:>7.2f}\n", median(row.variant.times_ms),
                       minimum(row.variant.times_ms), minimum(row.variant.times_ms) / best);
        else
            fmt::print("{}\n", row.variant.failure);
    }
    fmt::print("\n");
}

nlohmann::json papers_to_json(const std::vector<PapersResult> &results) {
    using nlohmann::json;
    json list = json::array();
    for (const PapersResult &r : results) {
        json rows = json::array();
        for (const PapersRow &row : r.rows) {
            const Variant &v = row.variant;
            json entry = {
                {"variant", v.name},          {"groups", row.groups},
                {"tiles", row.all_tiles},     {"evaluated", row.evaluated},
                {"search_ms", row.search_ms}, {"status", v.failure.empty() ? "ok" : "failed"},
                {"note", v.failure}};
            if (was_sampled(v)) {
                entry["median_ms"] = median(v.times_ms);
                entry["min_ms"] = minimum(v.times_ms);
                entry["max_abs_diff"] = v.max_abs_diff;
            }
            rows.push_back(std::move(entry));
        }
        auto counts = [](const Enumerated &e) {
            return json{{"stages", e.stages}, {"groups", e.groups}, {"table", e.table}};
        };
        list.push_back({{"app", r.app->name},
                        {"width", r.size.width},
                        {"height", r.size.height},
                        {"group_limits", group_limits},
                        {"enumerated_by_paper", counts(r.paper)},
                        {"enumerated_as_in_paper", counts(r.as_paper)},
                        {"enumerated", counts(r.ours)},
                        {"rows", std::move(rows)}});
    }
    return list;
}

}  // namespace bench
