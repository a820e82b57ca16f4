#include "region/loop_tree.h"

#include <algorithm>
#include <set>
#include <unordered_set>

#include "ir/visit.h"

namespace Pipe::region {

std::string stage_name(const graph::FuncNode &func, int stage) {
    return func.name + ".s" + std::to_string(stage);
}

namespace {

/// The Funcs that a stage calls, itself excluded, ascending.
std::vector<FuncId> funcs_read(const graph::Stage &stage, FuncId self) {
    std::set<FuncId> found;
    std::unordered_set<const ir::ExprNode *> seen;
    auto visit = [&](const Expr &e) {
        if (!seen.insert(e.get()).second) return false;
        if (e->op == ir::Op::Call && e->call_kind == ir::CallKind::Func)
            found.insert(static_cast<FuncId>(e->int_value));
        return true;
    };
    for (const Expr &e : stage.args) ir::walk(e, visit);
    for (const Expr &e : stage.values) ir::walk(e, visit);
    ir::walk(stage.predicate, visit);
    found.erase(self);
    return {found.begin(), found.end()};
}

}  // namespace

std::string loop_name(const graph::FuncNode &func, int stage, const std::string &dim) {
    return stage_name(func, stage) + "." + dim;
}

LoopTree::LoopTree(const graph::Graph &graph, const Schedule &schedule)
    : graph_(graph), schedule_(schedule), places_(graph.funcs.size()) {
    paths_[""] = {};
    kinds_[""] = LoopKind::Serial;
    // Consumers first: a Func's level names a loop of a stage that consumes it, directly or not.
    for (auto func = graph.funcs.rbegin(); func != graph.funcs.rend(); ++func) place_func(*func);
    for (const graph::FuncNode &func : graph.funcs) {
        const FuncPlace &place = this->place(func.id);
        if (!place.computed) continue;
        computed_at_[place.compute].push_back(func.id);
        stored_at_[place.store].push_back(func.id);
    }
}

void LoopTree::place_func(const graph::FuncNode &func) {
    FuncPlace &place = places_[static_cast<size_t>(func.id)];
    if (place.computed) return;
    place.computed = func.is_output || !func.consumers.empty();
    if (!place.computed) return;
    const schedule::FuncSchedule &schedule = schedule_[func.id];
    place.compute = func.is_output && !schedule.compute.at() ? Level()
                    : schedule.compute.inlined()             ? innermost_common_level(func.id)
                                                             : resolve(schedule.compute);
    place.store = schedule.store.inlined() ? place.compute : resolve(schedule.store);
    if (func.is_output || !encloses(place.store, place.compute)) place.store = place.compute;
    for (size_t s = 0; s < func.stages.size(); s++) {
        // compute_with: the host's loops must exist first.
        const schedule::LoopLevel &fuse = schedule.stages[s].fuse_level;
        if (!fuse.inlined() && fuse.func != func.id) place_func(graph_[fuse.func]);
        StageNest nest;
        nest.func = func.id;
        nest.stage = static_cast<int>(s);
        nest.schedule = &schedule.stages[s];
        nest.reads = funcs_read(func.stages[s], func.id);
        add_loops(nest, place.compute);
        place.stages.push_back(std::move(nest));
    }
}

void LoopTree::add_loops(StageNest &nest, const Level &compute) {
    const graph::FuncNode &func = graph_[nest.func];
    nest.path = path_to(compute);
    const schedule::LoopLevel &fuse = nest.schedule->fuse_level;
    const StageNest *host = fuse.inlined() ? nullptr : find_stage(fuse.func, fuse.stage);
    bool sharing = host != nullptr;
    size_t position = 0;
    for (auto dim = nest.schedule->dims.rbegin(); dim != nest.schedule->dims.rend(); ++dim) {
        Level name = sharing ? host->loops.at(position).name : loop_name(func, nest.stage, dim->name);
        nest.loops.push_back({*dim, name});
        nest.path.push_back(name);
        if (!sharing) {
            paths_[name] = nest.path;
            kinds_[name] = dim->kind;
            owners_[name] = {nest.func, nest.stage};
        } else if (host->loops[position].dim.name == fuse.var) {
            sharing = false;
        }
        position++;
    }
}

Level LoopTree::resolve(const schedule::LoopLevel &level) const {
    if (!level.at()) return "";
    Level name = loop_name(graph_[level.func], level.stage, level.var);
    if (paths_.count(name)) return name;
    // A loop shared by compute_with goes by the name of its host's.
    if (const StageNest *nest = find_stage(level.func, level.stage))
        for (const StageLoop &loop : nest->loops)
            if (loop.dim.name == level.var) return loop.name;
    throw InternalError("no loop " + name + " in the schedule");
}

Expr LoopTree::variable(const StageNest &nest, const std::string &var) const {
    for (const StageLoop &loop : nest.loops)
        if (loop.dim.name == var) return ir::make_variable(Int(32), loop.name);
    return ir::make_variable(Int(32), stage_name(graph_[nest.func], nest.stage) + "." + var);
}

std::vector<const StageNest *> LoopTree::guests(const StageNest &host) const {
    std::vector<const StageNest *> result;
    for (FuncId id : computed_at(place(host.func).compute))
        for (const StageNest &nest : place(id).stages) {
            const schedule::LoopLevel &fuse = nest.schedule->fuse_level;
            if (!fuse.inlined() && fuse.func == host.func && fuse.stage == host.stage) result.push_back(&nest);
        }
    return result;
}

size_t LoopTree::shared_loops(const StageNest &nest) const {
    const schedule::LoopLevel &fuse = nest.schedule->fuse_level;
    if (fuse.inlined()) return 0;
    const StageNest *host = find_stage(fuse.func, fuse.stage);
    for (size_t i = 0; host && i < host->loops.size(); i++)
        if (host->loops[i].dim.name == fuse.var) return i + 1;
    throw InternalError("compute_with names no loop of its host: " + fuse.var);
}

const StageNest *LoopTree::find_stage(FuncId func, int stage) const {
    const FuncPlace &place = this->place(func);
    return static_cast<size_t>(stage) < place.stages.size() ? &place.stages[stage] : nullptr;
}

const StageNest &LoopTree::owner(const Level &level) const {
    auto [func, stage] = owners_.at(level);
    return place(func).stages[static_cast<size_t>(stage)];
}

bool LoopTree::encloses(const Level &outer, const Level &inner) const {
    if (outer.empty() || outer == inner) return true;
    const std::vector<Level> &path = path_to(inner);
    return std::find(path.begin(), path.end(), outer) != path.end();
}

std::vector<const StageNest *> LoopTree::readers(FuncId func) const {
    std::vector<const StageNest *> result;
    for (FuncId consumer : graph_[func].consumers)
        for (const StageNest &nest : place(consumer).stages)
            if (std::binary_search(nest.reads.begin(), nest.reads.end(), func)) result.push_back(&nest);
    return result;
}

Level LoopTree::innermost_common_level(FuncId func) const {
    std::vector<Level> common;
    bool first = true;
    for (const StageNest *reader : readers(func)) {
        if (first) {
            common = reader->path;
            first = false;
            continue;
        }
        auto end = std::mismatch(common.begin(), common.end(), reader->path.begin(), reader->path.end());
        common.erase(end.first, common.end());
    }
    return common.empty() ? Level() : common.back();
}

std::vector<FuncId> LoopTree::computed_at(const Level &level) const {
    auto found = computed_at_.find(level);
    return found == computed_at_.end() ? std::vector<FuncId>() : found->second;
}

std::vector<FuncId> LoopTree::stored_at(const Level &level) const {
    auto found = stored_at_.find(level);
    return found == stored_at_.end() ? std::vector<FuncId>() : found->second;
}

}  // namespace Pipe::region
