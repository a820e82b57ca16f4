#include "region/plan_print.h"

#include <fmt/format.h>

#include "ir/print.h"

namespace Pipe::region {

namespace {

std::string name_of(const Level &level) {
    return level.empty() ? "root" : level;
}

std::string text(const Interval &i) {
    return fmt::format("{} .. {}", i.min.defined() ? ir::to_string(i.min) : "-inf",
                       i.max.defined() ? ir::to_string(i.max) : "inf");
}

/// "x = 0 .. 9, y = 0 .. 3": `names` of the dimensions, or their numbers where there are none.
std::string text(const Box &box, const std::vector<std::string> &names) {
    std::string result;
    for (size_t d = 0; d < box.size(); d++)
        result += fmt::format("{}{} = {}", d > 0 ? ", " : "",
                              d < names.size() ? names[d] : std::to_string(d), text(box[d]));
    return box.empty() ? "nothing" : result;
}

std::string text(const Range &range, const char *unit) {
    return fmt::format("from {}, {} {}", ir::to_string(range.min), ir::to_string(range.extent),
                       unit);
}

template <typename F> void for_each_stage(const LoopTree &tree, const F &f) {
    for (const graph::FuncNode &func : tree.graph().funcs)
        for (const StageNest &nest : tree.place(func.id).stages)
            f(func, nest);
}

std::string text(const graph::FuncNode &func, const StageNest &nest, const StageDemand &demand,
                 const Level &compute, const schedules::StageSchedule &schedule) {
    std::string result =
        fmt::format("  {} at {}\n", stage_name(func, nest.stage), name_of(compute));
    auto add = [&](const char *what, const std::string &value) {
        result += fmt::format("    {}: {}\n", what, value);
    };
    add("domain", text(demand.domain, func.args));
    if (!demand.computed.empty())
        add("computed", text(demand.computed, func.args));
    if (!demand.needed.empty())
        add("needed in all", text(demand.needed, func.args));
    if (!demand.needed_once.empty())
        add("needed at a time", text(demand.needed_once, func.args));
    for (const auto &[image, box] : demand.images)
        add(("reads " + image).c_str(), text(box, {}));
    for (size_t i = 0; i < demand.prefetched.size(); i++)
        if (demand.prefetched[i])
            add(("prefetches " + schedule.prefetches[i].source).c_str(),
                text(*demand.prefetched[i], {}));
    return result;
}

std::string text(const FuncStorage &storage, const graph::FuncNode &func, const FuncPlace &place) {
    std::string result = fmt::format("  {}: computed at {}, stored at {}", func.name,
                                     name_of(place.compute), name_of(place.store));
    if (place.hoist != place.store)
        result += ", allocated at " + name_of(place.hoist);
    result += "\n";
    auto add = [&](const std::string &line) { result += "    " + line + "\n"; };
    add("region: " + text(storage.region, func.args));
    const Window &window = storage.window;
    if (window.dim >= 0)
        add(fmt::format("slides {} along {} with the loop {}", window.up ? "up" : "down",
                        func.args[static_cast<size_t>(window.dim)], window.loop));
    else if (!window.not_sliding_because.empty())
        add("does not slide: " + window.not_sliding_because);
    for (const Fold &fold : storage.folds)
        add(fmt::format("folded: {} modulo {}, {} live", func.args[static_cast<size_t>(fold.dim)],
                        ir::to_string(fold.factor), fold.live));
    if (!storage.not_folded_because.empty())
        add("not folded: " + storage.not_folded_because);
    if (storage.relative)
        add("coordinates relative to the region");
    if (storage.copy.defined())
        add("copy of the ring buffer: " + ir::to_string(storage.copy));
    for (size_t d = 0; d < storage.allocation.size(); d++)
        add(fmt::format("allocated: {} {}", d < func.args.size() ? func.args[d] : "copies",
                        text(storage.allocation[d], "elements")));
    if (!storage.provided.empty())
        add("provides: " + text(storage.provided, func.args));
    if (storage.slots.defined())
        add("iterations ahead of its readers: " + ir::to_string(storage.slots));
    if (storage.computing_iterations.defined())
        add("computed only if " + ir::to_string(storage.computing_iterations));
    return result;
}

}  // namespace

const char *to_string(Tail tail) {
    switch (tail) {
    case Tail::None:
        return "none";
    case Tail::RoundUp:
        return "round up";
    case Tail::Guard:
        return "guard";
    case Tail::ShiftInwards:
        return "shift inwards";
    case Tail::PredicateLoads:
        return "mask loads";
    case Tail::PredicateStores:
        return "mask stores";
    case Tail::ShiftInwardsAndBlend:
        return "shift inwards and blend";
    case Tail::RoundUpAndBlend:
        return "round up and blend";
    }
    return "?";
}

std::string to_string(const Demand &demand, const LoopTree &tree) {
    std::string result = "demand\n";
    for (const auto &[image, box] : demand.images)
        result += fmt::format("  input {}: {}\n", image, text(box, {}));
    for (const auto &[id, box] : demand.outputs_read)
        if (!box.empty())
            result += fmt::format("  output {} is read: {}\n", tree.graph()[id].name,
                                  text(box, tree.graph()[id].args));
    for_each_stage(tree, [&](const graph::FuncNode &func, const StageNest &nest) {
        result += text(func, nest, demand.of(nest), tree.place(func.id).compute,
                       tree.schedule()[func.id].stages[static_cast<size_t>(nest.stage)]);
        for (const StageLoop &loop : nest.loops)
            if (auto range = demand.loops.find(loop.name); range != demand.loops.end())
                result +=
                    fmt::format("    loop {}: {}\n", loop.name, text(range->second, "iterations"));
    });
    return result;
}

std::string to_string(const StoragePlan &storage, const LoopTree &tree) {
    std::string result = "storage\n";
    for (const graph::FuncNode &func : tree.graph().funcs)
        if (tree.place(func.id).computed && !func.is_output)
            result += text(storage.of(func.id), func, tree.place(func.id));
    return result;
}

std::string to_string(const TailPlan &tails, const LoopTree &tree) {
    std::string result = "tails\n";
    for_each_stage(tree, [&](const graph::FuncNode &func, const StageNest &nest) {
        const StageTails &of = tails.of(nest);
        for (size_t i = 0; i < of.tails.size(); i++)
            if (const schedules::Transform &t = nest.transforms[i];
                t.kind == schedules::Transform::Kind::Split)
                result +=
                    fmt::format("  {}: split {} into {}, {} by {}: {}, because {}\n",
                                stage_name(func, nest.stage), t.old_name, t.outer, t.inner,
                                ir::to_string(t.factor), to_string(of.tails[i]), of.because[i]);
        for (size_t i = 0; i < of.kinds.size(); i++)
            if (const StageLoop &loop = nest.loops[i]; of.kinds[i] != loop.dim.kind)
                result +=
                    "  loop " + loop.name + " is serial, because its extent is not constant\n";
    });
    return result;
}

std::string to_string(const Names &names) {
    std::string result = "names\n";
    for (const auto &[level, lets] : names.lets) {
        if (!lets.empty())
            result += fmt::format("  at {}\n", name_of(level));
        for (const auto &[name, value] : lets)
            result += fmt::format("    {} = {}\n", name, ir::to_string(value));
    }
    for (const auto &[name, shift] : names.shifts)
        result += fmt::format("  {} = its loop + {}\n", name, ir::to_string(shift));
    return result;
}

std::string to_string(const RegionPlan &plan) {
    return to_string(plan.demand, plan.tree) + to_string(plan.storage, plan.tree) +
           to_string(plan.tails, plan.tree) + to_string(plan.names);
}

}  // namespace Pipe::region
