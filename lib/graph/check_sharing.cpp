#include "graph/check_sharing.h"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "graph/check_loops.h"
#include "support/error_text.h"

namespace Pipe::graph {
namespace {

using schedules::Dim;
using schedules::LoopLevel;
using schedules::StageSchedule;
using schedules::Transform;

class SharingChecker {
  public:
    SharingChecker(const Graph &graph, const schedules::Schedule &schedule,
                   const std::function<bool(FuncId, FuncId)> &same_level)
        : graph_(graph), schedule_(schedule), same_level_(same_level) {
        find_groups();
    }

    /// Checks that Funcs that share loops do not depend on each other.
    void check_independence() const {
        for (const FuncNode &f : graph_.funcs)
            for (size_t i = 0; is_computed(f) && i < f.stages.size(); i++) {
                const LoopLevel &level = schedule_[f.id].stages[i].fuse_level;
                if (!level.at() || !is_computed(graph_[level.func]))
                    continue;
                if (std::string chain = dependence(group_of(f.id)); !chain.empty())
                    reject(f, i,
                           fmt::format("{}, so one of the two must be complete before the other "
                                       "begins. Use compute_at instead of compute_with.",
                                       chain));
            }
    }

    void check() const {
        for (const FuncNode &f : graph_.funcs)
            check(f);
        std::vector<StageId> on_the_way;
        std::set<StageId> done;
        for (const FuncNode &f : graph_.funcs)
            if (is_computed(f))
                check_ring({f.id, static_cast<int>(f.stages.size()) - 1}, on_the_way, done);
        for (const FuncNode &f : graph_.funcs)
            for (size_t later = 1; is_computed(f) && later < f.stages.size(); later++)
                for (size_t i = 0; i < later; i++)
                    check_order(f, i, later);
    }

  private:
    using StageId = std::pair<FuncId, int>;

    const Graph &graph_;
    const schedules::Schedule &schedule_;
    const std::function<bool(FuncId, FuncId)> same_level_;
    std::vector<FuncId> leader_;  // union-find: toward the representative of the group
    std::map<FuncId, std::vector<FuncId>> groups_;  // the Funcs of each group, by representative

    void check(const FuncNode &f) const {
        if (!is_computed(f))
            return;
        for (size_t i = 0; i < f.stages.size(); i++) {
            const LoopLevel &level = schedule_[f.id].stages[i].fuse_level;
            if (!level.at())
                continue;
            const FuncNode &parent = graph_[level.func];
            for (const FuncNode *shared : {&f, &parent})
                if (schedule_[shared->id].memoize)
                    reject_directive(
                        *shared, 0, "memoize",
                        fmt::format(
                            "'{}' shares loops with '{}' (compute_with), which must run for the "
                            "latter even if the former is found in the memoization cache. Give "
                            "it loops of its own.",
                            f.name, parent.name));
            auto reject_with = [&](const std::string &why) { reject(f, i, why); };
            if (!is_computed(parent))
                reject_with(fmt::format(
                    "'{}' is inlined, so it has no loops. Give it compute_root() or compute_at().",
                    parent.name));
            if (!same_level_(f.id, parent.id))
                reject_with(
                    fmt::format("the two are computed at different levels: {} and {}. Compute "
                                "both at one level.",
                                describe(graph_, schedule_[f.id].compute),
                                describe(graph_, schedule_[parent.id].compute)));
            size_t shared = loops_to(
                schedule_[level.func].stages[static_cast<size_t>(level.stage)].dims, level.var);
            const auto &dims = schedule_[f.id].stages[i].dims;
            if (shared == 0 || shared > dims.size())
                reject_with(fmt::format("the two do not have the same number of loops outside "
                                        "'{}'. Loops: {}. Split and "
                                        "reorder both in the same way.",
                                        level.var, names_of(dims)));
        }
    }

    [[noreturn]] void reject(const FuncNode &f, size_t stage, const std::string &why) const {
        const LoopLevel &level = schedule_[f.id].stages[stage].fuse_level;
        reject_directive(
            f, stage, fmt::format("compute_with({}, {})", graph_[level.func].name, level.var), why);
    }

    const StageSchedule &schedule_of(StageId stage) const {
        return schedule_[stage.first].stages[static_cast<size_t>(stage.second)];
    }

    /// The loops of a stage, and those of its Func's earlier stages, must exist before those of a
    /// stage that shares them.
    void check_ring(StageId stage, std::vector<StageId> &on_the_way,
                    std::set<StageId> &done) const {
        if (done.count(stage))
            return;
        auto before = std::find(on_the_way.begin(), on_the_way.end(), stage);
        if (before != on_the_way.end())
            reject_ring({before, on_the_way.end()});
        on_the_way.push_back(stage);
        if (const LoopLevel &level = schedule_of(stage).fuse_level; level.at())
            check_ring({level.func, level.stage}, on_the_way, done);
        if (stage.second > 0)
            check_ring({stage.first, stage.second - 1}, on_the_way, done);
        on_the_way.pop_back();
        done.insert(stage);
    }

    [[noreturn]] void reject_ring(const std::vector<StageId> &ring) const {
        for (StageId stage : ring)
            if (const LoopLevel &level = schedule_of(stage).fuse_level; level.at())
                reject(
                    graph_[stage.first], static_cast<size_t>(stage.second),
                    fmt::format(
                        "'{}' shares the loops of '{}', directly or through other Funcs, so that "
                        "neither has loops of its own. Leave one of these compute_with out.",
                        graph_[level.func].name, graph_[stage.first].name));
        throw InternalError("a cycle of stages that share no loops");
    }

    /// A stage whose loops another stage shares, directly or through others.
    struct Parent {
        StageId stage;
        size_t loops;            ///< number of shared loops, from the outermost in
        std::set<size_t> moved;  ///< the loops that are shifted by LoopAlignStrategy
    };

    /// The innermost first, starting with the stage itself.
    std::vector<Parent> parents_of(StageId stage) const {
        std::vector<Parent> parents{{stage, schedule_of(stage).dims.size(), {}}};
        while (schedule_of(parents.back().stage).fuse_level.at()) {
            Parent parent = parents.back();
            const StageSchedule &child = schedule_of(parent.stage);
            for (const auto &[var, strategy] : child.fuse_align)
                if (strategy != LoopAlignStrategy::NoAlign)
                    parent.moved.insert(loops_to(child.dims, var));
            parent.stage = {child.fuse_level.func, child.fuse_level.stage};
            parent.loops = std::min(parent.loops,
                                    loops_to(schedule_of(parent.stage).dims, child.fuse_level.var));
            parents.push_back(parent);
        }
        return parents;
    }

    /// Two definitions of a Func may run in the same loops only if each iteration computes, exactly
    /// once, the elements that the later definition needs from the earlier one.
    void check_order(const FuncNode &f, size_t stage, size_t later) const {
        const LoopLevel &level = schedule_[f.id].stages[later].fuse_level;
        if (!level.at())
            return;
        for (const Parent &parent : parents_of({f.id, static_cast<int>(later)}))
            for (const Parent &other : parents_of({f.id, static_cast<int>(stage)})) {
                if (parent.stage != other.stage)
                    continue;
                if (std::string why = out_of_order(f, stage, other, later, parent); !why.empty())
                    reject(
                        f, later,
                        fmt::format(
                            "the {} of '{}' runs in those loops, too, but {}. Let only one of the "
                            "two share loops.",
                            stage_of(stage), f.name, why));
                return;
            }
    }

    /// "" if the two are in order.
    std::string out_of_order(const FuncNode &f, size_t stage, const Parent &first, size_t later,
                             const Parent &second) const {
        const StageSchedule &a = schedule_[f.id].stages[stage], &b = schedule_[f.id].stages[later];
        if (second.loops > first.loops)
            return "would run after it in each iteration, because this one is nested deeper";
        for (size_t n = 1; n <= second.loops; n++) {
            const Dim &of_a = a.dims[a.dims.size() - n], &of_b = b.dims[b.dims.size() - n];
            if (first.moved.count(n) || second.moved.count(n))
                return fmt::format("in '{}' one of these loops is shifted (LoopAlignStrategy)",
                                   of_b.name);
            if (of_a.name != of_b.name || of_a.is_reduction || of_b.is_reduction)
                return fmt::format("it has the loop '{}' in place of '{}'", of_b.name, of_a.name);
            if (is_made(a, of_a.name) || is_made(b, of_b.name))
                return fmt::format(
                    "the loops '{}' result from split() or fuse(), and may not begin at "
                    "the same place",
                    of_b.name);
        }
        return "";
    }

    static bool is_made(const StageSchedule &s, const std::string &loop) {
        return std::any_of(s.transforms.begin(), s.transforms.end(), [&](const Transform &t) {
            return loop == (t.kind == Transform::Kind::Fuse ? t.old_name : t.outer) ||
                   (t.kind == Transform::Kind::Split && loop == t.inner);
        });
    }

    static std::string stage_of(size_t stage) {
        return stage == 0 ? "pure definition" : fmt::format("update {}", stage - 1);
    }

    /// Number of loops from the outermost in to `var`; 0 if there is no such loop.
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

    /// A dependence between Funcs that share loops, possibly through others: "'c' (f.cpp:3) reads
    /// 'b', which shares loops with 'd', which reads 'a'". "" if there is none.
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
                return fmt::format("'{}'{} {}", graph_[p].name, support::at(graph_[p].where),
                                   chain);
            }
        }
        return "";
    }
};

}  // namespace

void check_independence(const Graph &graph, const schedules::Schedule &schedule) {
    SharingChecker(graph, schedule, nullptr).check_independence();
}

void check_sharing(const Graph &graph, const schedules::Schedule &schedule,
                   const std::function<bool(FuncId, FuncId)> &same_level) {
    SharingChecker(graph, schedule, same_level).check();
}

}  // namespace Pipe::graph
