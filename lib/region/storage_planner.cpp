#include "region/storage_planner.h"

#include <algorithm>

#include "ir/int32.h"
#include "ir/print.h"
#include "ir/simplify.h"
#include "support/error_text.h"

namespace Pipe::region {

using namespace ir;

namespace {

[[noreturn]] void reject(const graph::FuncNode &func, const std::string &directive,
                         const std::string &why) {
    throw CompileError(support::marked(support::Field::Func, func.name) + "." + directive +
                       support::in_parentheses(func.where) + ": " + why);
}

/// bound_storage of less than is needed.
void check_bound_storage(const graph::FuncNode &func, const schedules::FuncSchedule &schedule,
                         size_t dim, const Expr &needed) {
    for (const schedules::StorageDim &s : schedule.storage_dims) {
        if (s.var != func.args[dim] || !s.bound.defined() ||
            !is_const(simplify(make_binary(Op::LE, needed, s.bound)), 0))
            continue;
        using support::Field, support::marked;
        throw CompileError(
            marked(Field::Func, func.name) + ".bound_storage(" + marked(Field::Dimension, s.var) +
            ")" + support::in_parentheses(func.where) + ": " +
            marked(Field::Needed, ir::to_string(needed)) + " elements are needed, but only " +
            marked(Field::Given, ir::to_string(s.bound)) + " are allocated. Increase the bound.");
    }
}

}  // namespace

/// The number of the iteration of the loops between the allocation level and the store level of a
/// Func: 0 for the first, increasing by one, so that any `n` successive iterations use each of `n`
/// copies once. Two tasks rely on this: if numbers were skipped, one would overwrite the copy that
/// the other reads.
Expr StoragePlanner::ring_index(FuncId id) const {
    const FuncPlace &place = tree_.place(id);
    const std::vector<Level> &path = tree_.path_to(place.store);
    std::vector<Level> levels(path.begin() + static_cast<long>(tree_.path_to(place.hoist).size()),
                              path.end());
    std::vector<RingLoop> rings;
    for (const Level &level : levels)
        rings.push_back(ring_loop(id, level, levels));
    Expr result = int32(0);
    for (size_t i = 0; i < rings.size(); i++) {
        Expr each = int32(1);  // the number of them per iteration of loop i
        for (size_t j = i + 1; j < rings.size(); j++) {
            bool paired = std::any_of(rings.begin() + static_cast<long>(j), rings.end(),
                                      [&](const RingLoop &t) { return t.outer == levels[j]; });
            if (paired)
                continue;
            auto outer = static_cast<size_t>(
                std::find(levels.begin(), levels.end(), rings[j].outer) - levels.begin());
            each = mul(each, outer == levels.size() || outer < i ? rings[j].range.extent
                             : outer == i                        ? rings[j].factor
                                                                 : rings[j].both);
        }
        result = add(result, mul(sub(make_variable(Int(32), levels[i]), rings[i].range.min), each));
    }
    return result;
}

/// One of the loops whose iterations are counted. Only one kind may end early: the inner loop of a
/// guarded split, in the last iteration of its outer loop.
StoragePlanner::RingLoop StoragePlanner::ring_loop(FuncId id, const Level &level,
                                                   const std::vector<Level> &levels) const {
    const StageNest &nest = tree_.owner(level);
    auto own = [&](const std::string &var) { return nest.loops[nest.known_in.at(var)].name; };
    auto uneven = [&](const std::string &what) {
        reject(graph_[id], "ring_buffer",
               "its copies are used in turn by the iterations of the loops between the level at "
               "which its "
               "memory is allocated and "
               "its store level, but " +
                   what +
                   ". Hoist the storage less far (hoist_storage), or let the "
                   "split divide the range.");
    };
    auto loop_of = [&](const Level &l) {
        size_t p = 0;
        while (nest.loops[p].name != l)
            p++;
        std::string stage =
            nest.stage > 0 ? " (update " + std::to_string(nest.stage - 1) + ")" : "";
        return "loop '" + nest.loops[p].var + "' of " + graph_[nest.func].name + stage;
    };
    auto moves = [&](const Expr &e, const Level &except) {
        return std::any_of(levels.begin(), levels.end(),
                           [&](const Level &l) { return l != except && lets_.moves_with(e, l); });
    };
    RingLoop ring{demand_.loop(level), "", Expr(), Expr()};
    const std::map<std::string, Range> &all = demand_.of(nest).ranges;
    const std::vector<Tail> ends = rules_.stage_tails(nest, all).tails;
    for (size_t i = 0; i < nest.transforms.size(); i++) {
        const schedules::Transform &t = nest.transforms[i];
        if (ends[i] == Tail::Guard && own(t.old_name) == level)
            uneven("iterations of " + loop_of(level) + " are skipped at the end of '" + t.old_name +
                   "'");
        if (t.kind != schedules::Transform::Kind::Split)
            continue;
        bool ends_early = rules_.shrinks(nest, i) &&
                          rules_.tail_of(nest, t, all.at(t.old_name).extent) == Tail::Guard;
        bool of_these = own(t.inner) == level && equal(ring.range.extent, all.at(t.inner).extent) &&
                        std::count(levels.begin(), levels.end(), own(t.outer)) > 0 &&
                        equal(demand_.loop(own(t.outer)).extent, all.at(t.outer).extent);
        if (ends_early && of_these)
            ring = {ring.range, own(t.outer), t.factor, all.at(t.old_name).extent};
    }
    if (moves(ring.range.extent, ring.outer) || (ring.both.defined() && moves(ring.both, "")))
        uneven(loop_of(level) + " has a varying number of iterations");
    return ring;
}

/// The maximum of an extent at the store level over all iterations of the loops around it.
Expr StoragePlanner::extent_when_hoisted(FuncId id, const Expr &extent) const {
    const FuncPlace &place = tree_.place(id);
    if (std::optional<int64_t> most = bounds_.upper_bound(extent))
        return int32(std::max<int64_t>(*most, 0));
    Expr result = bounds_.greatest(extent, place.store, place.hoist);
    if (!result.defined())
        reject(graph_[id], "hoist_storage",
               "the memory needed by an iteration of the loops in to " + place.store +
                   " cannot be bounded. Store it where it is computed, or use bound_storage.");
    if (bounds_.uses_lets_between(result, place.store, place.hoist))
        reject(graph_[id], "hoist_storage",
               "its size is determined by the C function of an extern stage, "
               "which is queried inside the loops. Leave hoist_storage out.");
    return result;
}

std::vector<Range> StoragePlanner::allocation(FuncId id, const FuncStorage &storage) const {
    const graph::FuncNode &func = graph_[id];
    const FuncPlace &place = tree_.place(id);
    const schedules::FuncSchedule &schedule = tree_.schedule()[id];
    bool hoisted = storage.relative;
    std::vector<Range> result;
    for (size_t d = 0; d < func.args.size(); d++) {
        const Interval &i = storage.region[d];
        Expr extent = simplify(add(sub(i.max, i.min), int32(1)));
        auto fold = std::find_if(storage.folds.begin(), storage.folds.end(),
                                 [&](const Fold &f) { return f.dim == static_cast<int>(d); });
        bool folded = fold != storage.folds.end();
        if (folded) {
            extent = fold->factor;
        } else if (hoisted) {
            extent = extent_when_hoisted(id, extent);
        } else if (!place.store.empty()) {
            // A constant size gives constant strides, and storage on the stack. (At the root, it
            // depends on the outputs.)
            if (std::optional<int64_t> most = bounds_.upper_bound(extent))
                extent = int32(std::max<int64_t>(*most, 0));
        }
        for (const schedules::StorageDim &s : schedule.storage_dims)
            if (s.var == func.args[d] && s.alignment.defined())
                extent = simplify(
                    mul(div(add(extent, sub(s.alignment, int32(1))), s.alignment), s.alignment));
        result.push_back({folded || hoisted ? int32(0) : i.min, extent});
    }
    if (schedule.ring_buffer.defined()) {
        if (place.store != place.compute && !hoisted)
            reject(
                func, "ring_buffer",
                "a sliding window stays in one copy, and there is no loop "
                "between its store level and the level at which its memory is allocated, whose "
                "iterations could use the copies in turn. Hoist the storage further out, or store "
                "it further in.");
        result.push_back({int32(0), schedule.ring_buffer});
    }
    for (size_t d = 0; d < func.args.size(); d++)
        check_bound_storage(func, schedule, d, result[d].extent);
    return result;
}

Expr StoragePlanner::slots(FuncId id, const FuncStorage &storage) const {
    const FuncPlace &place = tree_.place(id);
    const Expr &ring_buffer = tree_.schedule()[id].ring_buffer;
    const Window &window = storage.window;
    bool slid = window.dim >= 0, whole = storage.folds.empty();
    bool hoisted = storage.relative;  // successive storages use the same memory
    if (whole && !hoisted && (slid || place.hoist == place.compute))
        return Expr();
    // Storage that is recomputed in each iteration needs space for only one.
    if (!slid && place.store != place.compute)
        return int32(1);
    // Each storage has at least one iteration, so the last of as many as there are copies is free.
    int64_t copies = 1;
    if (ring_buffer.defined())
        as_const_int(ring_buffer, &copies);
    if (whole)
        return int32(copies);
    // As many iterations as fit into the planes that are not live.
    int64_t factor = 0, ahead = 0;
    const Fold &fold = storage.folds.front();
    if (slid && window.step && *window.step > 0 && storage.folds.size() == 1 &&
        as_const_int(fold.factor, &factor))
        ahead = std::max<int64_t>(0, (factor - fold.live) / *window.step);
    return int32(hoisted ? std::min(copies, 1 + ahead) : 1 + ahead);
}

/// If the innermost loops inside the store level need the same region each time.
Expr StoragePlanner::computing_iterations(const FuncStorage &storage) const {
    Expr first;
    for (const Level &loop : storage.window.still) {
        Expr begins = make_binary(Op::LE, make_variable(Int(32), loop), demand_.loop(loop).min);
        first = first.defined() ? make_binary(Op::And, begins, first) : begins;
    }
    return first;
}

void StoragePlanner::complete(FuncId id, FuncStorage &storage) const {
    storage.computing_iterations = computing_iterations(storage);
    if (graph_[id].is_output)
        return;
    const schedules::FuncSchedule &schedule = tree_.schedule()[id];
    const Expr &copies = schedule.ring_buffer;
    // Without async(), one copy is enough: each iteration ends before the next begins.
    if (copies.defined())
        storage.copy =
            schedule.async && !is_const(copies, 1) ? mod(ring_index(id), copies) : int32(0);
    storage.allocation = allocation(id, storage);
    if (schedule.async)
        storage.slots = slots(id, storage);
}

StoragePlan plan_storage(const LoopTree &tree, const Demand &demand, const TailRules &rules,
                         const LetTable &lets, const std::vector<FuncStorage> &kept) {
    const StoragePlanner planner(tree, demand, rules, lets);
    StoragePlan plan{kept};
    for (const graph::FuncNode &func : tree.graph().funcs)
        if (tree.place(func.id).computed)
            planner.complete(func.id, plan.funcs[static_cast<size_t>(func.id)]);
    return plan;
}

}  // namespace Pipe::region
