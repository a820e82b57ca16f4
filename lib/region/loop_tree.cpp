#include "region/loop_tree.h"

#include <algorithm>
#include <set>

namespace Pipe::region {

std::string stage_name(const graph::FuncNode &func, int stage) {
    return func.name + ".s" + std::to_string(stage);
}

namespace {

/// Makes the names of variables unique if a schedule reuses one.
class UniqueNames {
  public:
    UniqueNames(const graph::FuncNode &func, int stage) {
        for (const std::string &arg : func.args)
            introduce(arg);
        for (const graph::ReductionVar &r : func.stages[stage].rvars)
            introduce(r.name);
    }
    /// The unique name of the variable that now has this name.
    const std::string &of(const std::string &var) const { return current_.at(var); }

    schedules::Transform apply(schedules::Transform t) {
        using Kind = schedules::Transform::Kind;
        if (t.kind == Kind::Fuse) {
            t.inner = of(t.inner);
            t.outer = of(t.outer);
            t.old_name = introduce(t.old_name);
        } else {
            t.old_name = of(t.old_name);
            t.outer = introduce(t.outer);
            if (t.kind == Kind::Split)
                t.inner = introduce(t.inner);
        }
        return t;
    }

  private:
    std::string introduce(const std::string &var) {
        std::string name = var;
        while (!taken_.insert(name).second)
            name += "'";
        return current_[var] = name;
    }

    std::map<std::string, std::string> current_;
    std::set<std::string> taken_;
};

}  // namespace

std::string loop_name(const graph::FuncNode &func, int stage, const std::string &dim) {
    return stage_name(func, stage) + "." + dim;
}

LoopTree::LoopTree(const graph::Graph &graph, const schedules::Schedule &schedule)
    : graph_(graph), schedule_(schedule), places_(graph.funcs.size()) {
    paths_[""] = {};
    kinds_[""] = LoopKind::Serial;
    for (auto func = graph.funcs.rbegin(); func != graph.funcs.rend(); ++func)
        places_[static_cast<size_t>(func->id)].computed =
            func->is_output || std::any_of(func->consumers.begin(), func->consumers.end(),
                                           [&](FuncId c) { return place(c).computed; });
    // Consumers first: a Func's level is a loop of a direct or indirect consumer.
    for (auto func = graph.funcs.rbegin(); func != graph.funcs.rend(); ++func)
        place_func(*func);
    for (const graph::FuncNode &func : graph.funcs) {
        const FuncPlace &place = this->place(func.id);
        if (!place.computed)
            continue;
        computed_at_[place.compute].push_back(func.id);
        stored_at_[place.store].push_back(func.id);
        allocated_at_[place.hoist].push_back(func.id);
    }
}

void LoopTree::place_func(const graph::FuncNode &func) {
    FuncPlace &place = places_[static_cast<size_t>(func.id)];
    if (!place.computed || !place.stages.empty())
        return;
    for (FuncId consumer : func.consumers)
        place_func(graph_[consumer]);  // of a parent that is placed early
    const schedules::FuncSchedule &schedule = schedule_[func.id];
    place.compute = func.is_output && !schedule.compute.at() ? Level()
                    : schedule.compute.inlined()             ? innermost_common_level(func.id)
                                                             : resolve(schedule.compute);
    place.store = schedule.store.inlined() ? place.compute : resolve(schedule.store);
    if (func.is_output || !encloses(place.store, place.compute))
        place.store = place.compute;
    place.hoist =
        schedule.hoist.inlined() || func.is_output ? place.store : resolve(schedule.hoist);
    place_stages(func, func.stages.size() - 1);
}

/// compute_with: the parent's loops must exist first. The parent may be a Func whose later stages
/// share loops of this Func's earlier stages.
void LoopTree::place_stages(const graph::FuncNode &func, size_t last) {
    FuncPlace &place = places_[static_cast<size_t>(func.id)];
    for (size_t s = place.stages.size(); s <= last; s++) {
        const schedules::StageSchedule &schedule = schedule_[func.id].stages[s];
        if (const schedules::LoopLevel &fuse = schedule.fuse_level;
            !fuse.inlined() && !find_stage(fuse.func, fuse.stage)) {
            place_func(graph_[fuse.func]);
            place_stages(graph_[fuse.func], static_cast<size_t>(fuse.stage));
        }
        if (place.stages.size() > s)
            continue;  // the parent's earlier stages share loops of this one
        StageNest nest;
        nest.func = func.id;
        nest.stage = static_cast<int>(s);
        nest.atomic = schedule.atomic;
        nest.reads = graph::funcs_read(func.stages[s], func.id);
        add_loops(nest, schedule, place.compute);
        place.stages.push_back(std::move(nest));
    }
}

void LoopTree::add_loops(StageNest &nest, const schedules::StageSchedule &schedule,
                         const Level &compute) {
    const graph::FuncNode &func = graph_[nest.func];
    nest.fuse_level = outermost_host(schedule.fuse_level);
    nest.named_level = schedule.fuse_level;
    has_children_ |= !nest.fuse_level.inlined();
    UniqueNames names(func, nest.stage);
    for (const schedules::Transform &t : schedule.transforms)
        nest.transforms.push_back(names.apply(t));

    nest.path = path_to(compute);
    const schedules::LoopLevel &fuse = nest.fuse_level;
    const StageNest *parent = fuse.inlined() ? nullptr : find_stage(fuse.func, fuse.stage);
    bool sharing = parent != nullptr;
    for (auto dim = schedule.dims.rbegin(); dim != schedule.dims.rend(); ++dim) {
        StageLoop loop{*dim, dim->name, "", LoopAlignStrategy::NoAlign, false};
        loop.dim.name = names.of(dim->name);
        size_t position = nest.loops.size();
        if (sharing)
            align(loop, schedule,
                  find_stage(nest.named_level.func, nest.named_level.stage)->loops.at(position));
        loop.name =
            sharing ? parent->loops.at(position).name : loop_name(func, nest.stage, loop.dim.name);
        nest.path.push_back(loop.name);
        if (!sharing) {
            paths_[loop.name] = nest.path;
            kinds_[loop.name] = dim->kind;
            owners_[loop.name] = {nest.func, nest.stage};
        } else if (parent->loops[position].var == fuse.var) {
            sharing = false;
        }
        nest.loops.push_back(std::move(loop));
    }
    find_known(nest);
}

void LoopTree::find_known(StageNest &nest) {
    using Kind = schedules::Transform::Kind;
    std::map<std::string, size_t> &in = nest.known_in;
    for (size_t p = 0; p < nest.loops.size(); p++)
        in[nest.loops[p].dim.name] = p;
    for (auto t = nest.transforms.rbegin(); t != nest.transforms.rend(); ++t) {
        if (t->kind == Kind::Fuse)
            in[t->inner] = in[t->outer] = in.at(t->old_name);
        else
            in[t->old_name] = t->kind == Kind::Rename ? in.at(t->outer)
                                                      : std::max(in.at(t->outer), in.at(t->inner));
    }
}

/// A loop that is shared with `other`, by the stage given to compute_with.
void LoopTree::align(StageLoop &loop, const schedules::StageSchedule &schedule,
                     const StageLoop &other) {
    for (const auto &[var, strategy] : schedule.fuse_align)
        if (var == loop.var)
            loop.align = strategy;
    loop.shifted = loop.align != LoopAlignStrategy::NoAlign || other.shifted;
}

/// If the parent itself shares that loop (a chain of compute_with): the stage that owns the loop.
schedules::LoopLevel LoopTree::outermost_host(schedules::LoopLevel fuse) const {
    while (!fuse.inlined()) {
        const StageNest &parent = *find_stage(fuse.func, fuse.stage);
        size_t i = 0;
        while (parent.loops.at(i).var != fuse.var)
            i++;
        if (i >= shared_loops(parent))
            break;
        fuse.func = parent.fuse_level.func;
        fuse.stage = parent.fuse_level.stage;
        fuse.var = find_stage(fuse.func, fuse.stage)->loops[i].var;
    }
    return fuse;
}

Level LoopTree::resolve(const schedules::LoopLevel &level) const {
    if (!level.at())
        return "";
    if (level.var == schedules::outermost_loop)
        return place(level.func).compute;
    if (const StageNest *nest = find_stage(level.func, level.stage))
        for (const StageLoop &loop : nest->loops)
            if (loop.var == level.var)
                return loop.name;
    throw InternalError("no loop " + level.var + " of " +
                        stage_name(graph_[level.func], level.stage));
}

Expr LoopTree::variable(const StageNest &nest, const std::string &var) const {
    for (const StageLoop &loop : nest.loops)
        if (loop.dim.name == var && !loop.shifted)
            return ir::make_variable(Int(32), loop.name);
    return ir::make_variable(Int(32), stage_name(graph_[nest.func], nest.stage) + "." + var);
}

std::vector<const StageNest *> LoopTree::children(const StageNest &parent) const {
    std::vector<const StageNest *> result;
    if (!has_children_)
        return result;
    for (FuncId id : computed_at(place(parent.func).compute))
        for (const StageNest &nest : place(id).stages) {
            const schedules::LoopLevel &fuse = nest.fuse_level;
            if (!fuse.inlined() && fuse.func == parent.func && fuse.stage == parent.stage)
                result.push_back(&nest);
        }
    return result;
}

size_t LoopTree::shared_loops(const StageNest &nest) const {
    const schedules::LoopLevel &fuse = nest.fuse_level;
    if (fuse.inlined())
        return 0;
    const StageNest *parent = find_stage(fuse.func, fuse.stage);
    for (size_t i = 0; parent && i < parent->loops.size(); i++)
        if (parent->loops[i].var == fuse.var)
            return i + 1;
    throw InternalError("compute_with names no loop of the other stage: " + fuse.var);
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
    if (outer.empty() || outer == inner)
        return true;
    const std::vector<Level> &path = path_to(inner);
    return std::find(path.begin(), path.end(), outer) != path.end();
}

std::vector<const StageNest *> LoopTree::readers(FuncId func) const {
    std::vector<const StageNest *> result;
    for (FuncId consumer : graph_[func].consumers)
        for (const StageNest &nest : place(consumer).stages)
            if (std::binary_search(nest.reads.begin(), nest.reads.end(), func))
                result.push_back(&nest);
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
        auto end =
            std::mismatch(common.begin(), common.end(), reader->path.begin(), reader->path.end());
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

std::vector<FuncId> LoopTree::allocated_at(const Level &level) const {
    auto found = allocated_at_.find(level);
    return found == allocated_at_.end() ? std::vector<FuncId>() : found->second;
}

}  // namespace Pipe::region
