#include "region/production.h"

#include <algorithm>
#include <functional>
#include <map>
#include <set>

namespace Pipe::region {

namespace {

/// Every Func that this one reads, directly or through others; ascending.
std::set<FuncId> needs(const graph::Graph &graph, FuncId id) {
    std::set<FuncId> found;
    std::vector<FuncId> pending = graph[id].producers;
    while (!pending.empty()) {
        FuncId next = pending.back();
        pending.pop_back();
        if (!found.insert(next).second)
            continue;
        pending.insert(pending.end(), graph[next].producers.begin(), graph[next].producers.end());
    }
    return found;
}

}  // namespace

std::vector<Group> production_groups(const LoopTree &tree, const Level &level) {
    std::vector<FuncId> ids = tree.computed_at(level);
    std::map<FuncId, FuncId> leader;  // of the group of each
    for (FuncId id : ids)
        leader[id] = id;
    for (FuncId id : ids)
        for (const StageNest &nest : tree.place(id).stages) {
            if (nest.fuse_level.inlined())
                continue;
            FuncId from = leader.at(id), to = leader.at(nest.fuse_level.func);
            for (auto &[member, of] : leader)
                if (of == from)
                    of = to;
        }
    std::map<FuncId, std::vector<FuncId>> members;
    for (FuncId id : ids)
        members[leader[id]].push_back(id);

    std::vector<Group> groups;
    std::set<FuncId> done;
    // A group waits until what its members need of the others is done.
    std::function<void(FuncId)> emit = [&](FuncId first) {
        if (!done.insert(first).second)
            return;
        if (members.size() < ids.size())
            for (FuncId id : members.at(first))
                for (FuncId needed : needs(tree.graph(), id))
                    if (auto at = std::find(ids.begin(), ids.end(), needed); at != ids.end())
                        emit(leader[*at]);
        groups.push_back(members.at(first));
    };
    for (FuncId id : ids)
        emit(leader[id]);
    return groups;
}

}  // namespace Pipe::region
