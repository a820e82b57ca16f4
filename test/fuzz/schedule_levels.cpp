// Where Funcs are computed, and which share their loops.
#include <algorithm>
#include <set>

#include "fuzz/scheduler.h"

namespace Pipe::fuzz {

namespace {

bool is_concurrent(LoopKind kind) {
    return kind == LoopKind::Parallel || is_gpu(kind);
}

}  // namespace

void Scheduler::choose_level(int i) {
    Source &s = source(i);
    Plan &p = plan(i);
    if (s.output) {
        p.at_root = true;
        return;
    }
    int kind = c_.below(is_by_hand() ? 10 : 20);
    bool no_directive = kind < 3 || kind >= 10;
    if (no_directive && s.is_extern) {
        p.at_root = true;
    } else if (no_directive) {  // inlined, or computed where it is used
        p.inlined = s.stages.size() == 1 && !read_as_whole(i);
        p.path = common_path(p.uses);
        if (!p.inlined)
            hoist_storage(i, p.path, p.path.size());
    } else if (kind < 6) {
        compute_at(i, Path());
        async(i, 6);
    } else {
        compute_at(i, common_path(p.uses));
    }
}

void Scheduler::async(int i, int percent) {
    if (in_kernel(i) || !c_.chance(percent))
        return;
    source(i).func.async();
    say(source(i).name + ".async();");
    plan(i).alone = true;  // a task of its own shares no loops
    plan(i).one_level = false;
}

void Scheduler::compute_at(int i, const Path &common) {
    Source &s = source(i);
    Plan &p = plan(i);
    const std::vector<size_t> depths = depths_for(i, common);
    p.one_level = true;
    if (depths.empty()) {
        s.func.compute_root();
        say(s.name + ".compute_root();");
        p.at_root = true;
        return;
    }
    const size_t depth = c_.of(depths);
    p.path.assign(common.begin(), common.begin() + static_cast<long>(depth));
    compute_at(i, p.path.back());
    size_t store = store_at(i, p.path);
    bool hoisted = hoist_storage(i, p.path, store);
    if (store == depth && hoisted && c_.chance(60)) {
        int copies = c_.between(1, 4);
        s.func.ring_buffer(copies);
        say(s.name + ".ring_buffer(" + std::to_string(copies) + ");");
    }
    p.one_level = store == depth && !hoisted;
    p.may_slide = store < depth && s.stages.size() == 1;
    async(i, hoisted ? 50 : 8);
}

/// Says the level at once or when everything else is said.
void Scheduler::compute_at(int i, const Level &level) {
    Source &s = source(i);
    std::string place = name_of(level.func, level.stage) + ", " + level.loop.var.text;
    if (!c_.chance(12)) {
        s.func.compute_at(stage_of(level.func, level.stage), level.loop.var.loop);
        say(s.name + ".compute_at(" + place + ");");
        return;
    }
    LoopLevel where;
    s.func.compute_at(where);
    std::string name = "where_" + s.name;
    say("LoopLevel " + name + "; " + s.name + ".compute_at(" + name + ");");
    Func consumer = source(level.func).func;
    later_.push_back([this, where, name, place, consumer, level]() mutable {
        where.set(LoopLevel(consumer, level.loop.var.loop, level.stage));
        say(name + ".set({" + place + "});");
    });
}

/// How many of the loops are outside of the storage. No parallel loop may lie between that and the
/// computation, and nothing that is skipped where it is found in the cache.
size_t Scheduler::store_at(int i, const Path &path) {
    Source &s = source(i);
    size_t outermost = path.size();
    while (outermost > 0 && !is_concurrent(path[outermost - 1].loop.kind))
        outermost--;
    for (const Level &level : path) {
        if (plan(level.func).memoized)
            outermost = std::max(outermost, plan(level.func).path.size());
    }
    if (outermost >= path.size() || !c_.chance(50))
        return path.size();
    size_t store =
        path.size() - static_cast<size_t>(c_.between(1, static_cast<int>(path.size() - outermost)));
    if (store == 0) {
        s.func.store_root();
        say(s.name + ".store_root();");
        return 0;
    }
    const Level &level = path[store - 1];
    s.func.store_at(stage_of(level.func, level.stage), level.loop.var.loop);
    say(s.name + ".store_at(" + name_of(level.func, level.stage) + ", " + level.loop.var.text +
        ");");
    return store;
}

bool Scheduler::hoist_storage(int i, const Path &path, size_t store) {
    Source &s = source(i);
    size_t outermost = path.size();
    while (outermost > 0 && !is_concurrent(path[outermost - 1].loop.kind))
        outermost--;
    // How much memory a C function wants is known only inside of the loops.
    if (s.is_extern || read_as_whole(i) || outermost >= store || !c_.chance(20))
        return false;
    size_t hoist = store - static_cast<size_t>(c_.between(1, static_cast<int>(store - outermost)));
    if (hoist == 0) {
        s.func.hoist_storage_root();
        say(s.name + ".hoist_storage_root();");
        return true;
    }
    const Level &level = path[hoist - 1];
    s.func.hoist_storage(stage_of(level.func, level.stage), level.loop.var.loop);
    say(s.name + ".hoist_storage(" + name_of(level.func, level.stage) + ", " + level.loop.var.text +
        ");");
    return true;
}

// ---- compute_with

/// The Funcs that share loops with Func i, directly or through others, and itself.
std::vector<int> Scheduler::group_of(int i) const {
    auto root_of = [&](int j) {
        while (!plan(j).stages.empty() && plan(j).stages[0].host >= 0)
            j = plan(j).stages[0].host;
        return j;
    };
    std::vector<int> group;
    for (int j = 0; j < static_cast<int>(plans_.size()); j++) {
        if (root_of(j) == root_of(i))
            group.push_back(j);
    }
    return group;
}

/// All that must be done before these: what they read, and what shares its loops.
std::set<int> Scheduler::needs(const std::vector<int> &funcs) const {
    std::set<int> found;
    std::vector<int> pending = funcs;
    while (!pending.empty()) {
        int f = pending.back();
        pending.pop_back();
        for (const StageInfo &stage : source(f).stages) {
            for (const Access &access : stage.accesses) {
                for (int member : group_of(access.source)) {
                    if (found.insert(member).second)
                        pending.push_back(member);
                }
            }
        }
    }
    return found;
}

/// Later Funcs with loops that it can share: neither of the two groups may need the other.
std::vector<int> Scheduler::hosts_for(int i) const {
    const Source &s = source(i);
    Path common = common_path(plan(i).uses);
    std::set<int> before = needs({i});
    std::vector<int> result;
    for (int j = i + 1; j < static_cast<int>(plans_.size()); j++) {
        const Plan &p = plan(j);
        const Source &o = source(j);
        bool vector = std::any_of(p.path.begin(), p.path.end(), [](const Level &level) {
            return level.loop.kind == LoopKind::Vectorized;
        });
        bool computed = p.at_root || (p.scheduled && !p.inlined && !p.path.empty() && !vector);
        bool reaches = p.path.size() <= common.size() &&
                       std::equal(p.path.begin(), p.path.end(), common.begin());
        if (!computed || !reaches || p.alone || p.specialized || o.vars != s.vars ||
            (s.output && !o.output))
            continue;
        std::vector<int> group = group_of(j);
        bool needed = std::any_of(group.begin(), group.end(),
                                  [&](int member) { return before.count(member) > 0; });
        if (!needed && needs(group).count(i) == 0)
            result.push_back(j);
    }
    return result;
}

bool Scheduler::try_compute_with(int i) {
    Source &s = source(i);
    Plan &p = plan(i);
    if (s.is_extern || s.exact || !is_by_hand() || info_.bound_sizes || !c_.chance(60))
        return false;
    std::vector<int> hosts = hosts_for(i);
    if (hosts.empty())
        return false;
    int host = c_.of(hosts);
    const Plan &other = plan(host);
    p.path = other.path;
    p.at_root = other.at_root;
    p.hosts &= other.hosts;
    if (!p.path.empty()) {
        compute_at(i, p.path.back());
    } else if (!s.output) {
        s.func.compute_root();
        say(s.name + ".compute_root();");
    }
    compute_with(i, host, 0, 0);
    // Updates too where they have the same loops; rarely in those of another stage, which may have to be
    // refused.
    for (size_t k = 1; k < p.stages.size() && c_.chance(60); k++) {
        size_t with = c_.chance(20) ? static_cast<size_t>(c_.below(static_cast<int>(k))) : k;
        if (with >= other.stages.size())
            break;
        auto same = [](const LoopVar &a, const LoopVar &b) {
            return a.text == b.text && !a.reduction && !b.reduction;
        };
        const auto &mine = s.stages[k].loops, &its = source(host).stages[with].loops;
        if (mine.empty() || !std::equal(mine.begin(), mine.end(), its.begin(), its.end(), same))
            break;
        compute_with(i, host, k, with);
    }
    return true;
}

void Scheduler::compute_with(int i, int host, size_t stage, size_t host_stage) {
    auto number = static_cast<int>(stage), other = static_cast<int>(host_stage);
    StagePlan &mine = plan(i).stages[stage];
    const StagePlan &its = plan(host).stages[host_stage];
    Stage guest = stage_of(i, number);
    for (const Directive &directive : its.replay)
        directive(guest, name_of(i, number));
    mine.loops = its.loops;
    mine.replay = its.replay;
    auto innermost = static_cast<size_t>(c_.below(static_cast<int>(its.loops.size())));
    LoopAlignments align;
    std::string text;
    for (size_t l = innermost; l < its.loops.size() && c_.chance(50); l++) {
        bool start = c_.chance(50);
        const LoopVar &var = its.loops[l].var;
        align.emplace_back(var.loop,
                           start ? LoopAlignStrategy::AlignStart : LoopAlignStrategy::AlignEnd);
        text += std::string(text.empty() ? "" : ", ") + "{" + var.text +
                ", LoopAlignStrategy::" + (start ? "AlignStart}" : "AlignEnd}");
    }
    const LoopVar &var = its.loops[innermost].var;
    guest.compute_with(stage_of(host, other), var.loop, align);
    say(name_of(i, number) + ".compute_with(" + name_of(host, other) + ", " + var.text +
        ", LoopAlignments{" + text + "});");
    mine.host = host;
    mine.host_stage = host_stage;
    mine.shared = static_cast<int>(its.loops.size() - innermost);
    auto f = static_cast<size_t>(i), h = static_cast<size_t>(host);
    for (size_t d = 0; d < info_.slack[f].size(); d++) {
        info_.slack[f][d].below = std::max(info_.slack[f][d].below, info_.slack[h][d].below);
        info_.slack[f][d].above = std::max(info_.slack[f][d].above, info_.slack[h][d].above);
        info_.min_extent[f][d] = std::max(info_.min_extent[f][d], info_.min_extent[h][d]);
        info_.multiple[f][d] = std::max(info_.multiple[f][d], info_.multiple[h][d]);
    }
}

}  // namespace Pipe::fuzz
