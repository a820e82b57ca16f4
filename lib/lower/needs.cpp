#include "lower/needs.h"

#include <algorithm>

namespace Pipe::lower {

using region::FuncPlace;
using region::Group;
using region::Level;
using region::StageNest;

Needs::Needs(const region::LoopTree &tree) : tree_(tree) {
    for (const schedules::FuncSchedule &s : tree.schedule().funcs)
        any_memoized_ |= s.memoize.has_value();
    if (!any_memoized_)
        return;
    for (const graph::FuncNode &f : tree.graph().funcs) {
        const FuncPlace &place = tree.place(f.id);
        const bool is_task =
            tree.schedule()[f.id].async;  // it begins where the memory is allocated
        const Level &outside = is_task ? place.hoist : place.store;
        if (!place.computed || outside == place.compute)
            continue;
        const std::vector<Level> &path = tree.path_to(place.compute);
        size_t stored = tree.path_to(outside).size();
        for (size_t i = stored; i < path.size(); i++) {
            FuncId owner = tree.owner(path[i]).func;
            if (is_task || tree.path_to(tree.place(owner).compute).size() > stored)
                must_run_.insert(owner);
        }
    }
}

std::map<FuncId, std::vector<Group>> Needs::sort(const Level &level, std::vector<Group> groups) {
    std::map<FuncId, std::vector<Group>> result;
    // Consumers first: what they are needed for is known.
    for (auto group = groups.rbegin(); group != groups.rend(); ++group) {
        FuncId need = any_memoized_ ? need_of(*group, level) : FuncId::None;
        for (FuncId id : *group)
            if (need != FuncId::None)
                needs_[id] = need;
        result[need].push_back(std::move(*group));
    }
    for (auto &[need, list] : result)
        std::reverse(list.begin(), list.end());
    return result;
}

bool Needs::may_be_left_out(FuncId id, const Level &level) const {
    const FuncPlace &place = tree_.place(id);
    return !tree_.graph()[id].is_output && !tree_.schedule()[id].async && place.store == level &&
           place.hoist == level && !must_run_.count(id);
}

FuncId Needs::need_of(const Group &group, const Level &level) const {
    FuncId need = FuncId::None;
    for (FuncId id : group) {
        if (!may_be_left_out(id, level))
            return FuncId::None;
        for (const StageNest *reader : tree_.readers(id)) {
            if (std::find(group.begin(), group.end(), reader->func) != group.end())
                continue;
            FuncId now = need_of_user(*reader, level);
            if (now == FuncId::None || (need != FuncId::None && now != need))
                return FuncId::None;
            need = now;
        }
    }
    return need;
}

/// What that Func of the level is needed for in whose loops the reader runs.
FuncId Needs::need_of_user(const StageNest &reader, const Level &level) const {
    size_t depth = tree_.path_to(level).size();
    bool deeper = tree_.place(reader.func).compute != level && reader.path.size() > depth;
    FuncId user = deeper ? tree_.owner(reader.path[depth]).func : reader.func;
    if (tree_.place(user).compute != level)
        return FuncId::None;  // what is around the level
    if (tree_.schedule()[user].memoize)
        return user;
    auto known = needs_.find(user);
    return known == needs_.end() ? FuncId::None : known->second;
}

}  // namespace Pipe::lower
