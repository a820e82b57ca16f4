#include "autoschedule/roles.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "graph/extern_stage.h"
#include "graph/walk.h"

namespace Pipe::autoschedule {

using graph::FuncNode;
using graph::Graph;
using schedules::FuncSchedule;
using schedules::LoopLevel;
using schedules::Schedule;
using schedules::StageSchedule;

namespace {

bool has_level(const FuncNode &func, const FuncSchedule &f) {
    return func.is_output || !f.compute.inlined() || !f.store.inlined();
}

/// Loops whose number of iterations does not depend on where the Func is computed.
std::set<std::string> loops_of_constant_extent(const FuncNode &func, const FuncSchedule &f,
                                               const StageSchedule &stage) {
    std::set<std::string> result;
    for (const schedules::Bound &b : f.bounds)
        result.insert(b.var);
    auto is_constant = [&](const std::string &loop) {
        const bool is_dimension =
            std::find(func.args.begin(), func.args.end(), loop) != func.args.end();
        const bool is_made = std::any_of(stage.transforms.begin(), stage.transforms.end(),
                                         [&](const schedules::Transform &t) {
                                             return t.kind != schedules::Transform::Kind::Fuse &&
                                                    (t.outer == loop || t.inner == loop);
                                         });
        return result.count(loop) > 0 || !(is_dimension || is_made);
    };
    for (const schedules::Transform &t : stage.transforms) {
        const bool is_split = t.kind == schedules::Transform::Kind::Split;
        const bool is_fuse = t.kind == schedules::Transform::Kind::Fuse;
        if (is_split)
            result.insert(t.inner);
        if (is_fuse ? is_constant(t.outer) && is_constant(t.inner) : is_constant(t.old_name))
            result.insert(is_fuse ? t.old_name : t.outer);
    }
    return result;
}

/// vectorize() or unroll() of a whole dimension, of a Func that is not inlined where it has no level.
bool needs_constant_extents(const FuncNode &func, const FuncSchedule &f) {
    return func.has_updates() &&
           std::any_of(f.stages.begin(), f.stages.end(), [&](const StageSchedule &stage) {
               const std::set<std::string> constant = loops_of_constant_extent(func, f, stage);
               return std::any_of(
                   stage.dims.begin(), stage.dims.end(), [&](const schedules::Dim &d) {
                       return (d.kind == LoopKind::Vectorized || d.kind == LoopKind::Unrolled) &&
                              !d.is_reduction && !constant.count(d.name);
                   });
           });
}

/// fold_storage and hoist_storage depend on the loops around a Func, and so do loops that need a constant extent:
/// without a level, lowering finds its place in the loops of its readers as the user wrote them.
bool depends_on_readers(const FuncNode &func, const FuncSchedule &f) {
    const bool is_touched =
        f.touched || std::any_of(f.stages.begin(), f.stages.end(),
                                 [](const StageSchedule &s) { return s.touched; });
    return is_touched && !has_level(func, f) &&
           (!f.folds.empty() || !f.hoist.inlined() || needs_constant_extents(func, f));
}

/// Funcs whose loops or inlining are the user's because a directive names or depends on them.
struct UserLoops {
    std::vector<bool> loops, inlined;
    std::vector<bool> placed;  ///< without a level, and not to be given one
};

/// The readers of `func` stay as the user wrote them: those that are inlined, and the loops of the others. Where a
/// reader has no level itself, its place is in the loops of its own readers.
void keep_readers(const Graph &graph, const Schedule &user, const FuncNode &func, UserLoops &kept) {
    for (FuncId reader : func.consumers) {
        const FuncSchedule &f = user[reader];
        const auto i = static_cast<size_t>(reader);
        const bool is_inlined =
            !graph[reader].is_output && !graph[reader].has_updates() && f.compute.inlined();
        if (is_inlined && kept.loops[i])
            continue;  // a level names its loops: it is stored at root to have some
        (is_inlined ? kept.inlined : kept.loops)[i] = true;
        if (has_level(graph[reader], f) || kept.placed[i])
            continue;
        kept.placed[i] = true;
        keep_readers(graph, user, graph[reader], kept);
    }
}

/// The Funcs that can be computed in loops of `host`: what shares its loops by compute_with, and all that they read.
std::vector<bool> can_be_in_loops_of(const Graph &graph, const Schedule &user, FuncId host) {
    std::vector<bool> inside(graph.funcs.size(), false);
    std::vector<FuncId> pending;
    auto add = [&](FuncId f) {
        if (f == FuncId::None || inside[static_cast<size_t>(f)])
            return;
        inside[static_cast<size_t>(f)] = true;
        pending.push_back(f);
    };
    add(host);
    while (!pending.empty()) {
        const FuncId f = pending.back();
        pending.pop_back();
        for (FuncId producer : graph[f].producers)
            add(producer);
        for (const FuncNode &other : graph.funcs)
            for (const StageSchedule &s : user[other.id].stages)
                if (s.fuse_level.at() && (other.id == f || s.fuse_level.func == f)) {
                    add(other.id);
                    add(s.fuse_level.func);
                }
    }
    return inside;
}

bool may_be_inlined(const FuncNode &func, const FuncSchedule &f) {
    return !has_level(func, f) && !func.has_updates() && !graph::is_extern(func) &&
           !must_be_stored(f) &&
           std::none_of(f.stages.begin(), f.stages.end(),
                        [](const StageSchedule &s) { return s.touched; });
}

/// An element of the Tuple of a Func.
using Element = std::pair<FuncId, int>;

bool reads(const Expr &value, const Element &element) {
    bool found = false;
    graph::Walk()(value, [&](const ir::ExprNode &e) {
        found |= e.op == ir::Op::Call && e.call_kind == ir::CallKind::Func &&
                 Element(static_cast<FuncId>(e.int_value), e.index) == element;
    });
    return found;
}

/// Of f.compute_at(g, x): a Func outside of g's loops cannot read f. One that does is inlined, because its readers may
/// use another element of its Tuple, which does not need f.
void inline_outside(const Graph &graph, const Schedule &user, const FuncNode &func,
                    UserLoops &kept) {
    const FuncSchedule &f = user[func.id];
    const LoopLevel &level = f.compute.at() ? f.compute : f.store;
    if (!f.touched || !level.at() || level.func == FuncId::None)
        return;
    const std::vector<bool> inside = can_be_in_loops_of(graph, user, level.func);
    std::vector<Element> needing;  // f, and the elements of inlined Funcs that read it
    for (size_t i = 0; i < func.types.size(); i++)
        needing.emplace_back(func.id, static_cast<int>(i));
    for (size_t n = 0; n < needing.size(); n++) {
        const Element element = needing[n];
        for (FuncId reader : graph[element.first].consumers) {
            const auto r = static_cast<size_t>(reader);
            if (inside[r] || !may_be_inlined(graph[reader], user[reader]))
                continue;
            const std::vector<Expr> &values = graph[reader].stages[0].values;
            for (size_t i = 0; i < values.size(); i++) {
                const Element value(reader, static_cast<int>(i));
                if (!reads(values[i], element))
                    continue;
                kept.inlined[r] = kept.placed[r] = true;
                if (std::find(needing.begin(), needing.end(), value) == needing.end())
                    needing.push_back(value);
            }
        }
    }
}

UserLoops kept_for_directives(const Graph &graph, const Schedule &user) {
    const std::vector<bool> none(graph.funcs.size(), false);
    UserLoops kept{none, none, none};
    auto note = [&](const LoopLevel &level) {
        if (level.at() && level.func != FuncId::None)
            kept.loops[static_cast<size_t>(level.func)] = true;
    };
    for (const FuncNode &func : graph.funcs) {
        const FuncSchedule &f = user[func.id];
        if (f.touched) {
            note(f.compute);
            note(f.store);
            note(f.hoist);
        }
        for (const StageSchedule &s : f.stages)
            note(s.fuse_level);
    }
    for (const FuncNode &func : graph.funcs) {
        if (!depends_on_readers(func, user[func.id]))
            continue;
        kept.loops[static_cast<size_t>(func.id)] = kept.placed[static_cast<size_t>(func.id)] = true;
        keep_readers(graph, user, func, kept);
    }
    for (const FuncNode &func : graph.funcs)
        inline_outside(graph, user, func, kept);
    return kept;
}

/// Funcs that must be in memory as a whole: C functions read them, or loops prefetch them.
std::vector<bool> stored_for_others(const Graph &graph, const Schedule &user) {
    std::vector<bool> stored = graph::read_as_whole(graph);
    for (const FuncSchedule &f : user.funcs)
        for (const StageSchedule &s : f.stages)
            for (const schedules::Prefetch &p : s.prefetches)
                for (const FuncNode &func : graph.funcs)
                    if (func.name == p.source)
                        stored[static_cast<size_t>(func.id)] = true;
    return stored;
}

Role role_of(const FuncNode &func, const FuncSchedule &user, bool fixed, bool stored) {
    if (graph::is_extern(func))
        return Role::Fixed;
    const bool stage_touched = std::any_of(user.stages.begin(), user.stages.end(),
                                           [](const auto &s) { return s.touched; });
    const bool at_user_level = user.touched && user.compute.at();
    if (fixed || stage_touched || at_user_level)
        return Role::Fixed;
    if (func.is_output)
        return Role::Root;
    // A directive on its computed region requires separate loops.
    const bool has_part = !user.bounds.empty() || !user.alignments.empty() ||
                          user.nontemporal_stores || user.nontemporal_loads ||
                          user.copied_to != schedules::CopiedTo::Unspecified;
    if (!user.touched)
        return stored || has_part ? Role::Root : Role::Free;
    if (!user.compute.inlined() || must_be_stored(user))
        return Role::Root;
    // A Func that cannot be inlined; lowering finds its level.
    return func.has_updates() || stored ? Role::Fixed : Role::Inlined;
}

/// Whether loop `a` is inside of loop `b`, if both enclose one Func.
bool is_inside(const LoopLevel &a, const LoopLevel &b, const Schedule &user) {
    if (a.func != b.func)
        return a.func < b.func;  // what is fused into b's loops is computed before b
    const auto &dims = user[a.func].stages[static_cast<size_t>(a.stage)].dims;
    auto place = [&](const LoopLevel &level) {
        return std::find_if(dims.begin(), dims.end(),
                            [&](const schedules::Dim &d) { return d.name == level.var; });
    };
    return place(a) < place(b);
}

}  // namespace

bool must_be_stored(const FuncSchedule &user) {
    return user.memory != MemoryType::Auto || !user.storage_order.empty() ||
           !user.storage_dims.empty() || user.async || user.memoize;
}

std::vector<Role> roles_of(const Graph &graph, const Schedule &user) {
    const UserLoops kept = kept_for_directives(graph, user);
    const std::vector<bool> stored = stored_for_others(graph, user);
    std::vector<Role> roles;
    for (const FuncNode &func : graph.funcs) {
        const auto f = static_cast<size_t>(func.id);
        roles.push_back(kept.inlined[f] && !kept.loops[f]
                            ? Role::Inlined
                            : role_of(func, user.funcs[f], kept.loops[f], stored[f]));
    }
    return roles;
}

std::vector<bool> placed_by_readers(const Graph &graph, const Schedule &user) {
    return kept_for_directives(graph, user).placed;
}

void complete_levels(const Graph &graph, Schedule &user) {
    const std::vector<Role> roles = roles_of(graph, user);
    std::vector<LoopLevel> readers_at(graph.funcs.size());  // inlined() = anywhere
    std::map<FuncId, std::vector<bool>> insides;
    auto can_be_at = [&](const LoopLevel &level, FuncId f) {
        auto [inside, is_new] = insides.try_emplace(level.func);
        if (is_new)
            inside->second = can_be_in_loops_of(graph, user, level.func);
        return level.func != f && inside->second[static_cast<size_t>(f)];
    };
    for (const FuncNode &func : graph.funcs) {  // producers first
        const auto i = static_cast<size_t>(func.id);
        FuncSchedule &f = user[func.id];
        const bool is_inlined = roles[i] == Role::Inlined;
        if (f.compute.inlined() && !f.store.inlined())
            f.compute = f.store;
        if (f.compute.inlined() && !is_inlined && readers_at[i].at()) {
            f.compute = f.store = readers_at[i];
            f.touched = true;
        }
        if (!is_inlined)
            readers_at[i] = f.compute;
        for (FuncId reader : func.consumers) {
            LoopLevel &place = readers_at[static_cast<size_t>(reader)];
            if (readers_at[i].at() && can_be_at(readers_at[i], reader) &&
                (!place.at() || is_inside(readers_at[i], place, user)))
                place = readers_at[i];
        }
    }
}

}  // namespace Pipe::autoschedule
