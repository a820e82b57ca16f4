#include "language/loop_names.h"

#include <algorithm>

#include "graph/names.h"

namespace Pipe::language {

LoopNames::LoopNames(const FuncContents &func) : renamed_(func.stages.size()) {
    for (size_t s = 0; s < func.stages.size(); s++)
        take_loops(func.schedule.stages[s], func.stages[s].rvars);
    taken_.insert(func.args.begin(), func.args.end());
    for (const std::string &arg : func.args)
        if (std::string name = graph::without_dots(arg); name != arg)
            for (auto &map : renamed_)
                map[arg] = graph::unique_name(name, taken_);
    for (size_t s = 0; s < func.stages.size(); s++)
        add_rvars(func, s);
}

/// The loop names in transforms; RVars get their names later.
void LoopNames::take_loops(const schedules::StageSchedule &loops,
                           const std::vector<ReductionVar> &rvars) {
    auto is_rvar = [&](const std::string &name) {
        return std::any_of(rvars.begin(), rvars.end(),
                           [&](const ReductionVar &r) { return r.name == name; });
    };
    for (const auto &t : loops.transforms)
        for (const auto *name : {&t.old_name, &t.outer, &t.inner})
            if (!name->empty() && !is_rvar(*name))
                taken_.insert(*name);
    for (const auto &special : loops.specializations)
        take_loops(special.schedule, rvars);
}

/// Stages with the same RDom share its names; another RDom of the same name gets different ones.
void LoopNames::add_rvars(const FuncContents &func, size_t stage) {
    for (const ReductionVar &r : func.stages[stage].rvars) {
        bool done = false;
        for (size_t s = 0; s < stage && !done; s++)
            for (const ReductionVar &other : func.stages[s].rvars)
                if (other.name == r.name && other.min.same_as(r.min) &&
                    other.extent.same_as(r.extent)) {
                    renamed_[stage][r.name] = (*this)(static_cast<int>(s), r.name);
                    done = true;
                }
        if (!done)
            renamed_[stage][r.name] = graph::unique_name(r.name, taken_);
    }
}

const std::string &LoopNames::operator()(int stage, const std::string &name) const {
    const auto &map = renamed_[static_cast<size_t>(stage)];
    auto found = map.find(name);
    return found == map.end() ? name : found->second;
}

}  // namespace Pipe::language
