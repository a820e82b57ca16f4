#include "graph/check_sharing.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "graph/check_loops.h"
#include "graph/contents.h"

namespace Pipe::graph {
namespace {

using schedules::Dim;
using schedules::LoopLevel;
using schedules::StageSchedule;

class SharingChecker {
  public:
    SharingChecker(const Graph &graph, const schedules::Schedule &schedule,
                   const std::function<bool(FuncId, FuncId)> &same_level)
        : graph_(graph), schedule_(schedule), same_level_(same_level) {}

    void check() {
        find_groups();
        for (const FuncNode &f : graph_.funcs)
            check(f);
    }

  private:
    const Graph &graph_;
    const schedules::Schedule &schedule_;
    const std::function<bool(FuncId, FuncId)> &same_level_;
    std::vector<FuncId> leader_;                    // towards one of the group
    std::map<FuncId, std::vector<FuncId>> groups_;  // the Funcs of each such one

    void check(const FuncNode &f) const {
        if (!is_computed(f))
            return;
        for (size_t i = 0; i < f.stages.size(); i++) {
            const LoopLevel &level = schedule_[f.id].stages[i].fuse_level;
            if (!level.at())
                continue;
            const FuncNode &host = graph_[level.func];
            for (const FuncNode *shared : {&f, &host})
                if (schedule_[shared->id].memoize)
                    reject_directive(
                        *shared, 0, "memoize",
                        fmt::format("'{}' shares loops with '{}' (compute_with), so they run for "
                                    "the other where it is found in the cache. Let it have "
                                    "loops of its own.",
                                    f.name, host.name));
            auto reject_with = [&](const std::string &why) {
                reject_directive(f, i, fmt::format("compute_with({}, {})", host.name, level.var),
                                 why);
            };
            if (!is_computed(host))
                reject_with(fmt::format(
                    "'{}' is inlined, so it has no loops. Give it compute_root() or compute_at().",
                    host.name));
            if (!same_level_(f.id, host.id))
                reject_with(
                    fmt::format("the two are computed at different levels: {} and {}. Compute "
                                "both at one level.",
                                describe(graph_, schedule_[f.id].compute),
                                describe(graph_, schedule_[host.id].compute)));
            if (std::string chain = dependence(group_of(f.id)); !chain.empty())
                reject_with(fmt::format("{}, so one of the two must be done before the other "
                                        "begins. Let them share no loop (compute_at instead).",
                                        chain));
            size_t shared = loops_to(
                schedule_[level.func].stages[static_cast<size_t>(level.stage)].dims, level.var);
            const auto &dims = schedule_[f.id].stages[i].dims;
            if (shared == 0 || shared > dims.size())
                reject_with(fmt::format(
                    "the two do not have as many loops outside '{}'. Loops: {}. Split and "
                    "reorder both alike.",
                    level.var, names_of(dims)));
        }
    }

    /// How many loops there are from the outermost in to `var`; 0 where there is no such loop.
    static size_t loops_to(const std::vector<Dim> &dims, const std::string &var) {
        for (size_t i = 0; i < dims.size(); i++)
            if (dims[i].name == var)
                return dims.size() - i;
        return 0;
    }

    void find_groups() {
        for (const FuncNode &f : graph_.funcs)
            leader_.push_back(f.id);
        for (const FuncNode &f : graph_.funcs)
            for (const StageSchedule &s : schedule_[f.id].stages)
                if (s.fuse_level.at())
                    leader_[static_cast<size_t>(leader_of(f.id))] = leader_of(s.fuse_level.func);
        for (const FuncNode &f : graph_.funcs)
            groups_[leader_of(f.id)].push_back(f.id);
    }

    FuncId leader_of(FuncId id) const {
        while (leader_[static_cast<size_t>(id)] != id)
            id = leader_[static_cast<size_t>(id)];
        return id;
    }

    /// The Func and those whose loops it shares, directly or through others.
    const std::vector<FuncId> &group_of(FuncId id) const { return groups_.at(leader_of(id)); }

    /// How Funcs that share loops need each other, perhaps through others that do: "'c' (f.cpp:3)
    /// reads 'b', which shares loops with 'd', which reads 'a'". "" where they do not.
    std::string dependence(const std::vector<FuncId> &group) const {
        struct Link {
            FuncId from;
            const char *how;
        };
        std::map<FuncId, Link> links;
        std::vector<FuncId> pending = group;
        auto follow = [&](FuncId from, FuncId to, const char *how) {
            if (links.emplace(to, Link{from, how}).second)
                pending.push_back(to);
        };
        auto is_member = [&](FuncId id) { return leader_of(id) == leader_of(group[0]); };
        while (!pending.empty()) {
            FuncId id = pending.back();
            pending.pop_back();
            for (FuncId p : graph_[id].producers) {
                follow(id, p, "reads");
                for (FuncId other : is_member(p) ? std::vector<FuncId>() : group_of(p))
                    if (other != p)
                        follow(p, other, "shares loops with");
                if (!is_member(p))
                    continue;
                std::string chain;
                do {
                    std::string link = fmt::format("{} '{}'", links.at(p).how, graph_[p].name);
                    chain = link + (chain.empty() ? "" : ", which " + chain);
                    p = links.at(p).from;
                } while (!is_member(p));
                return fmt::format("'{}'{} {}", graph_[p].name, at(graph_[p].where), chain);
            }
        }
        return "";
    }
};

}  // namespace

void check_sharing(const Graph &graph, const schedules::Schedule &schedule,
                   const std::function<bool(FuncId, FuncId)> &same_level) {
    SharingChecker(graph, schedule, same_level).check();
}

}  // namespace Pipe::graph
