#include "driver/report_page.h"

#include <algorithm>
#include <map>
#include <set>

#include <nlohmann/json.hpp>

#include "driver/loop_nest.h"
#include "driver/loops_page.h"
#include "driver/page_files.h"
#include "graph/schedule_source.h"
#include "ir/visit.h"
#include "lower/private_accumulators.h"
#include "support/text.h"

namespace Pipe::driver {

namespace {

using nlohmann::json;
using schedules::LoopLevel;

/// Per Func: the one at root in whose loops it is computed; None if it is inlined.
std::vector<FuncId> groups_of(const graph::Graph &graph, const schedules::Schedule &schedule) {
    std::vector<FuncId> groups(graph.funcs.size(), FuncId::None);
    for (size_t i = graph.funcs.size(); i-- > 0;) {  // consumers first
        const graph::FuncNode &func = graph.funcs[i];
        const LoopLevel &compute = schedule[func.id].compute;
        if (func.is_output || compute.root())
            groups[i] = func.id;
        else if (!compute.inlined())
            groups[i] = groups[static_cast<size_t>(compute.func)];
    }
    return groups;
}

/// Stages and edges of the graph, and the number of each group.
struct Drawing {
    json stages = json::array(), edges = json::array();
    std::map<FuncId, int> group_numbers;
};

std::string joined(const std::vector<std::string> &names) {
    std::string text;
    for (const std::string &name : names)
        text += (text.empty() ? "" : ", ") + name;
    return text;
}

void add_funcs(Drawing &d, const graph::Graph &graph, const schedules::Schedule &schedule) {
    const std::vector<FuncId> groups = groups_of(graph, schedule);
    for (const graph::FuncNode &func : graph.funcs) {
        const FuncId group = groups[static_cast<size_t>(func.id)];
        int number = -1;
        if (group != FuncId::None)
            number = d.group_numbers.emplace(group, static_cast<int>(d.group_numbers.size()))
                         .first->second;
        std::string detail;
        if (func.has_updates())
            detail = support::counted(func.stages.size() - 1, "update");
        d.stages.push_back({{"name", func.name},
                            {"detail", detail},
                            {"hint", func.name + "(" + joined(func.args) + ")"},
                            {"group", number},
                            {"kind", func.is_output          ? "output"
                                     : group == FuncId::None ? "inlined"
                                                             : "stored"}});
        for (FuncId producer : func.producers)
            d.edges.push_back({static_cast<int>(producer), static_cast<int>(func.id)});
    }
}

void add_inputs(Drawing &d, const graph::Graph &graph) {
    std::map<std::string, size_t> numbers;
    for (const graph::Image &image : graph.images) {
        numbers[image.name] = d.stages.size();
        d.stages.push_back({{"name", image.name},
                            {"detail", ""},
                            {"hint", image.name + ": " + to_string(image.type) + ", " +
                                         support::counted(image.dimensions, "dimension")},
                            {"group", -1},
                            {"kind", "input"}});
    }
    for (const graph::FuncNode &func : graph.funcs) {
        std::set<std::string> read;
        for (const graph::Stage &stage : func.stages)
            graph::for_each_expr(stage, [&](const Expr &root) {
                ir::each_node(root, [&](const ir::ExprNode &e) {
                    if (e.op == ir::Op::Call && numbers.count(e.name))
                        read.insert(e.name);
                    return true;
                });
            });
        for (const std::string &image : read)
            d.edges.push_back({numbers.at(image), static_cast<int>(func.id)});
    }
}

json groups_json(const ReportContents &contents, const Drawing &drawing) {
    json groups = json::array();
    for (const autoschedule::GroupFigure &g : contents.scheduled.report.figures) {
        int index = -1;
        for (const graph::FuncNode &func : contents.scheduled.frozen.graph.funcs)
            if (auto number = drawing.group_numbers.find(func.id);
                func.name == g.name && number != drawing.group_numbers.end())
                index = number->second;
        json members = json::array();
        for (const autoschedule::MemberFigure &m : g.members)
            members.push_back({{"name", m.name}, {"extents", m.extents}, {"bytes", m.bytes}});
        groups.push_back({{"index", index},
                          {"name", g.name},
                          {"args", g.args},
                          {"tile", g.tile},
                          {"extents", g.extents},
                          {"parallel", g.parallel},
                          {"members", members},
                          {"scratch_bytes", g.scratch_bytes},
                          {"redundancy", g.redundancy},
                          {"cost", g.cost},
                          {"terms", g.terms}});
    }
    return groups;
}

json tried_json(const ReportContents &contents) {
    json tried = json::array();
    for (const autoschedule::Alternative &a : contents.tried)
        tried.push_back(
            {{"name", a.name}, {"relative", a.cost / std::max(contents.tried[0].cost, 1e-300)}});
    return tried;
}

json caches_json(const autoschedule::Machine &machine) {
    if (machine.gpu)
        return json::array();
    return {{{"name", "L1"}, {"bytes", machine.l1_bytes}},
            {{"name", "L2"}, {"bytes", machine.l2_bytes}},
            {{"name", "L3"}, {"bytes", machine.l3_bytes}}};
}

json times_json(const ReportContents &contents) {
    std::map<std::string, json> rows;
    std::vector<std::string> order;
    auto row = [&](const std::string &name) -> json & {
        auto [at, is_new] =
            rows.emplace(name, json{{"name", name}, {"predicted", nullptr}, {"measured", nullptr}});
        if (is_new)
            order.push_back(name);
        return at->second;
    };
    if (contents.predicted)
        for (const PredictedStage &stage : contents.predicted->stages)
            row(stage.func)["predicted"] = stage.milliseconds;
    for (const auto &[name, milliseconds] : contents.measured)
        row(name)["measured"] = milliseconds;
    json times = json::array();
    for (const std::string &name : order)
        times.push_back(rows.at(name));
    return times;
}

/// As JavaScript inside of a page: a string must not end the script.
std::string script(const json &data) {
    std::string text = data.dump(-1, ' ', false, json::error_handler_t::replace), result;
    for (size_t i = 0; i < text.size(); i++) {
        result += text[i];
        if (text[i] == '<' && i + 1 < text.size() && (text[i + 1] == '/' || text[i + 1] == '!'))
            result += '\\';
    }
    return result;
}

/// The template with each @NAME@ replaced, in the order in which they stand there.
std::string filled(const std::string &page,
                   const std::vector<std::pair<std::string, std::string>> &values) {
    std::string result;
    size_t at = 0;
    for (const auto &[name, value] : values) {
        const size_t found = page.find("@" + name + "@", at);
        result += page.substr(at, found - at) + value;
        at = found + name.size() + 2;
    }
    return result + page.substr(at);
}

/// The chosen schedule, and the search's best that it did not choose, each once, best first.
std::vector<autoschedule::Alternative> tried(const Scheduled &s, const Settings &settings) {
    constexpr size_t shown = 12, looked_at = 40;
    if (!settings.autoschedule || !s.user || s.fallbacks_used > 0 || s.report.machine.gpu)
        return {};
    std::vector<autoschedule::Alternative> all =
        autoschedule::alternatives(s.user->graph, s.user->schedule, s.sizes, s.report.machine,
                                   *settings.autoschedule, looked_at);
    std::set<std::string> met;
    std::erase_if(all, [&](const autoschedule::Alternative &a) {
        return !met.insert(graph::schedule_source(a.graph, a.schedule)).second;
    });
    if (!all.empty())
        std::stable_sort(all.begin() + 1, all.end(),
                         [](const auto &a, const auto &b) { return a.cost < b.cost; });
    if (all.size() > shown)
        all.erase(all.begin() + shown, all.end());
    return all;
}

std::optional<Prediction> predicted(Compiled &compiled, const Settings &settings) {
    if (!settings.autoschedule)
        return std::nullopt;
    try {
        return compiled.predict_as_scheduled(*settings.autoschedule);
    } catch (const RuntimeError &) {  // a Param has no value yet
        return std::nullopt;
    }
}

}  // namespace

std::string report_page(const std::vector<Func> &outputs, Compiler &compiler) {
    const std::shared_ptr<Compiled> compiled = compiler.current(outputs);
    const Scheduled s = compiled->scheduled();
    const Settings settings = compiler.settings();
    const Target target =
        settings.target.arch == Target::ArchUnknown ? get_host_target() : settings.target;
    auto [graph, schedule] =
        lower::private_accumulators(s.inlined, s.frozen.schedule, s.shared_loops);
    return report_page({outputs[0].name(), target.to_string(), s, loop_nest(graph, schedule),
                        graph::schedule_source(s.frozen.graph, s.frozen.schedule),
                        tried(s, settings), predicted(*compiled, settings),
                        compiler.profile->milliseconds_per_run()});
}

std::string report_page(const ReportContents &contents) {
    const Scheduled &scheduled = contents.scheduled;
    const bool automatic = !scheduled.report.text.empty();
    Drawing drawing;
    add_funcs(drawing, scheduled.frozen.graph, scheduled.frozen.schedule);
    add_inputs(drawing, scheduled.frozen.graph);
    const json data = {
        {"title", contents.title},
        {"target", contents.target},
        {"notes", scheduled.report.notes},
        {"stages", drawing.stages},
        {"edges", drawing.edges},
        {"caches", automatic ? caches_json(scheduled.report.machine) : json::array()},
        {"groups", groups_json(contents, drawing)},
        {"times", times_json(contents)},
        {"tried", tried_json(contents)},
        {"schedule", contents.schedule},
        {"report", scheduled.report.text},
    };
    return filled(page_template(), {{"TITLE", support::html(contents.title)},
                                    {"LOOPS", folding_blocks(contents.loops)},
                                    {"DAGRE", graph_layout_script()},
                                    {"DATA", script(data)}});
}

}  // namespace Pipe::driver
