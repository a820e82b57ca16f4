#include "graph/names.h"

#include <algorithm>
#include <cctype>

namespace Pipe::graph {

std::string unique_name(const std::string &name, std::set<std::string> &taken) {
    std::string candidate = name;
    for (int i = 1; !taken.insert(candidate).second; i++)
        candidate = name + "$" + std::to_string(i);
    return candidate;
}

std::string without_dots(std::string name) {
    std::replace(name.begin(), name.end(), '.', '_');
    return name;
}

std::string identifier(const std::string &name) {
    std::string result = name;
    for (char &c : result)
        if (!std::isalnum(static_cast<unsigned char>(c)))
            c = '_';
    if (result.empty() || std::isdigit(static_cast<unsigned char>(result[0])))
        result = "_" + result;
    return result;
}

LoopNames::LoopNames(const FuncContents &func) : renamed_(func.stages.size()) {
    auto dotted = [](const std::string &name) { return name.find('.') != std::string::npos; };
    auto take_chosen = [&](const std::string &name) {
        if (!name.empty() && !is_fresh(name))
            taken_.insert(name);
    };
    for (const std::string &arg : func.args)
        take_chosen(arg);
    auto take_all = [&](auto &&self, const schedules::StageSchedule &s) -> void {
        for (const auto &t : s.transforms)
            for (const auto *name : {&t.old_name, &t.outer, &t.inner})
                take_chosen(*name);
        for (const auto &special : s.specializations)
            self(self, special.schedule);
    };
    for (const auto &s : func.schedule.stages)
        take_all(take_all, s);

    for (const std::string &arg : func.args)
        if (is_fresh(arg) || dotted(arg)) {
            std::string name = unique_name(without_dots(base_name(arg)), taken_);
            for (auto &map : renamed_)
                map[arg] = name;
        }
    for (size_t s = 0; s < func.stages.size(); s++) {
        add_rvars(func, s);
        add_loops(func.schedule.stages[s], s);
    }
}

/// Stages that run over the same RDom share its names; another RDom of that name gets others.
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
            renamed_[stage][r.name] = unique_name(base_name(r.name), taken_);
    }
}

void LoopNames::add_loops(const schedules::StageSchedule &loops, size_t stage) {
    for (const auto &t : loops.transforms)
        for (const auto *name : {&t.old_name, &t.outer, &t.inner})
            rename(stage, *name);
    for (const auto &special : loops.specializations)
        add_loops(special.schedule, stage);
}

void LoopNames::rename(size_t stage, const std::string &name) {
    if (is_fresh(name) && !renamed_[stage].count(name))
        renamed_[stage][name] = unique_name(base_name(name), taken_);
}

const std::string &LoopNames::operator()(int stage, const std::string &name) const {
    const auto &map = renamed_[static_cast<size_t>(stage)];
    auto found = map.find(name);
    return found == map.end() ? name : found->second;
}

}  // namespace Pipe::graph
