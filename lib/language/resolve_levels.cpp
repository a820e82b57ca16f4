#include "language/resolve_levels.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "graph/extern_stage.h"
#include "language/contents.h"
#include "language/match.h"

namespace Pipe::language {
namespace {

using schedules::LoopLevel;  // the data; Pipe::LoopLevel is the user's handle

class Resolver {
  public:
    Resolver(Frozen &frozen, const std::vector<std::shared_ptr<const FuncContents>> &funcs,
             const std::vector<LoopNames> &names)
        : frozen_(frozen), funcs_(funcs), loop_names_(names) {}

    void resolve(size_t i) {
        schedules::FuncSchedule &s = frozen_.schedule.funcs[i];
        const ScheduleObjects &objects = funcs_[i]->schedule_objects;
        take_object(i, "compute_at", objects.compute, s.compute);
        take_object(i, "store_at", objects.store, s.store);
        take_object(i, "hoist_storage", objects.hoist, s.hoist);
        const FuncNode &func = frozen_.graph.funcs[i];
        if ((func.is_output || graph::is_extern(func)) && s.compute.inlined())
            s.compute.kind = LoopLevel::Kind::Root;
        resolve(i, "compute_at", s.compute);
        resolve(i, "store_at", s.store);
        resolve(i, "hoist_storage", s.hoist);
        if (s.store.inlined() && !s.compute.inlined())
            s.store = s.compute;
        for (auto &stage : s.stages) {
            bool no_loop = stage.fuse_level.var == schedules::outermost_loop;
            resolve(i, "compute_with", stage.fuse_level);
            if (no_loop)  // no shared loop: same as without compute_with
                stage.fuse_level = LoopLevel();
            resolve_prefetches(i, stage);
        }
    }

  private:
    Frozen &frozen_;
    const std::vector<std::shared_ptr<const FuncContents>> &funcs_;
    const std::vector<LoopNames> &loop_names_;

    /// The position to which a Pipe::LoopLevel refers; it must not change any more.
    void take_object(size_t i, const char *directive,
                     const std::shared_ptr<Pipe::LoopLevel::Contents> &contents, LoopLevel &level) {
        if (!contents)
            return;
        if (!contents->defined)
            throw CompileError(fmt::format(
                "{}.{}(LoopLevel){}: the LoopLevel is undefined. Give it a "
                "place with set() before the pipeline is compiled.",
                func_field(frozen_.graph.funcs[i].name), directive, at(funcs_[i]->where)));
        contents->locked = true;
        level = contents->level;
    }

    void resolve_prefetches(size_t i, schedules::StageSchedule &s) {
        for (schedules::Prefetch &p : s.prefetches) {
            bool known = false;
            for (size_t f = 0; f < funcs_.size(); f++)
                if (funcs_[f]->identity->number == p.source_number) {
                    p.source = frozen_.graph.funcs[f].name;
                    known = true;
                }
            for (const auto &image : funcs_[i]->schedule_objects.prefetched)
                if (image->identity->number == p.source_number)
                    known |= find_image(*image, &p.source);
            if (!known)
                throw CompileError(fmt::format("{}.prefetch({}, {}, {}){}: '{}' is not part of the "
                                               "pipeline.",
                                               func_field(frozen_.graph.funcs[i].name), p.source,
                                               p.at, p.from, at(funcs_[i]->where), p.source));
            p.source_number = 0;
        }
        for (schedules::Specialization &special : s.specializations)
            resolve_prefetches(i, special.schedule);
    }

    bool find_image(const ImageContents &wanted, std::string *name) const {
        for (size_t i = 0; i < frozen_.images.size(); i++) {
            const Image &image = frozen_.graph.images[i];
            if (wanted.bound ? !image.bound.same_as(wanted.buffer) : frozen_.images[i].get() != &wanted)
                continue;
            *name = image.name;
            return true;
        }
        return false;
    }

    void resolve(size_t i, const char *directive, LoopLevel &level) {
        if (!level.at())
            return;
        auto reject = [&](const std::string &why) {
            throw CompileError(fmt::format("{}.{}({}, {}){}: {}",
                                           func_field(frozen_.graph.funcs[i].name), directive,
                                           level.func_name, level.var, at(funcs_[i]->where), why));
        };
        auto found = std::find_if(funcs_.begin(), funcs_.end(),
                                  [&](const auto &f) { return f->identity->number == level.func_number; });
        if (found == funcs_.end())
            reject(fmt::format("'{}' is not part of the pipeline, which has {}.", level.func_name,
                               func_names()));
        auto target = static_cast<size_t>(found - funcs_.begin());
        if (level.var == schedules::outermost_loop)
            return resolve_outermost(i, target, directive, level, reject);
        level.func = static_cast<FuncId>(target);
        level.func_number = 0;
        const auto &stages = frozen_.schedule.funcs[target].stages;
        if (level.stage < 0) {
            for (int s = 0; s < static_cast<int>(stages.size()); s++)
                level.loops.push_back(has_loop(stages[static_cast<size_t>(s)], target, s, level.var)
                                          ? loop_names_[target](s, level.var)
                                          : "");
            level.stage = find_stage(i, target, level.var);
        }
        if (level.stage < 0 || static_cast<size_t>(level.stage) >= stages.size() ||
            !has_loop(stages[static_cast<size_t>(level.stage)], target, level.stage, level.var))
            reject(fmt::format("{} has no loop '{}'. Its loops are, innermost first: {}.",
                               (*found)->description(), level.var, loops_of(target)));
        level.var = loop_names_[target](level.stage, level.var);
    }

    /// Var::outermost(): where the Func itself is computed.
    template <typename Reject>
    void resolve_outermost(size_t i, size_t target, const char *directive, LoopLevel &level,
                           const Reject &reject) {
        LoopLevel place = frozen_.schedule.funcs[target].compute;
        take_object(target, "compute_at", funcs_[target]->schedule_objects.compute, place);
        if (place.inlined() && frozen_.graph.funcs[target].is_output)
            place.kind = LoopLevel::Kind::Root;
        // Inside all loops of its readers: they differ in each specialization.
        if (place.inlined() && frozen_.graph.funcs[target].has_updates()) {
            level.func = static_cast<FuncId>(target);
            level.func_number = 0;
            return;
        }
        if (place.inlined())
            reject("it is inlined, so it has no compute level. Give it compute_root() or "
                   "compute_at().");
        if (place.func_number)
            resolve(i, directive, place);
        level = place;
    }

    /// Also if only a specialization has it: check() reports versions that do not.
    bool has_loop(const schedules::StageSchedule &s, size_t func, int stage,
                  const std::string &var) const {
        const std::string &name = loop_names_[func](stage, var);
        return std::any_of(s.dims.begin(), s.dims.end(),
                           [&](const auto &d) { return d.name == name; }) ||
               std::any_of(s.specializations.begin(), s.specializations.end(),
                           [&](const auto &v) { return has_loop(v.schedule, func, stage, var); });
    }

    /// The first stage of `target` that has the loop, preferably one that (also indirectly) reads
    /// `func`; -1 if there is none.
    int find_stage(size_t func, size_t target, const std::string &var) const {
        const auto &stages = frozen_.schedule.funcs[target].stages;
        int first = -1;
        for (int s = 0; s < static_cast<int>(stages.size()); s++) {
            if (!has_loop(stages[static_cast<size_t>(s)], target, s, var))
                continue;
            if (reads(target, s, static_cast<FuncId>(func)))
                return s;
            if (first < 0)
                first = s;
        }
        return first;
    }

    bool reads(size_t target, int stage, FuncId func) const {
        const Graph &graph = frozen_.graph;
        const FuncNode &node = graph.funcs[target];
        std::vector<FuncId> pending =
            graph::funcs_read(node.stages[static_cast<size_t>(stage)], node.id);
        std::set<FuncId> seen;
        while (!pending.empty()) {
            FuncId id = pending.back();
            pending.pop_back();
            if (id == func)
                return true;
            if (id < func || !seen.insert(id).second)
                continue;  // producers come first
            const auto &producers = graph[id].producers;
            pending.insert(pending.end(), producers.begin(), producers.end());
        }
        return false;
    }

    std::string loops_of(size_t func) const {
        std::vector<std::string> text;
        const auto &stages = frozen_.schedule.funcs[func].stages;
        for (size_t s = 0; s < stages.size(); s++) {
            std::vector<std::string> names;
            for (const auto &d : stages[s].dims)
                names.push_back(d.name);
            std::string which = s == 0 ? "" : fmt::format(" (update {})", s - 1);
            text.push_back((names.empty() ? "none" : join(names)) + which);
        }
        return fmt::format("{}", fmt::join(text, "; "));
    }

    std::string func_names() const {
        std::vector<std::string> names;
        for (const FuncNode &f : frozen_.graph.funcs)
            names.push_back(f.name);
        return join(names);
    }
};

}  // namespace

void resolve_levels(Frozen &frozen, const std::vector<std::shared_ptr<const FuncContents>> &funcs,
                    const std::vector<LoopNames> &names) {
    Resolver resolver(frozen, funcs, names);
    for (size_t i = 0; i < funcs.size(); i++)
        resolver.resolve(i);
}

}  // namespace Pipe::language
