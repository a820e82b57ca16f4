// RegionMap: storage, sliding windows and folded storage.

#include <algorithm>

#include "ir/simplify.h"
#include "ir/substitute.h"
#include "region/region_map.h"

namespace Pipe::region {

using namespace ir;

namespace {

Expr int32(int64_t value) { return make_int(Int(32), value); }

}  // namespace

const Box &RegionMap::storage(FuncId id) {
    auto found = storages_.find(id);
    if (found != storages_.end()) return found->second;
    const graph::FuncNode &func = graph_[id];
    const FuncPlace &place = tree_.place(id);
    const StageNest &first = place.stages[0];
    Box box = domain_at(id, 0, place.store);
    std::map<std::string, Expr> span = spans(first, ranges_in(first, box));
    for (size_t d = 0; d < box.size(); d++)
        box[d].max = simplify(sub(add(box[d].min, span.at(func.args[d])), int32(1)));
    return storages_[id] = bind(place.store, func.name + ".storage", func, box);
}

namespace {

enum class Trend : uint8_t { Constant, Up, Down, Unknown };

Trend opposite(Trend t) { return t == Trend::Up ? Trend::Down : t == Trend::Down ? Trend::Up : t; }

Trend both(Trend a, Trend b) {
    if (a == Trend::Constant) return b;
    if (b == Trend::Constant || a == b) return a;
    return Trend::Unknown;
}

/// How e moves when `var` grows.
Trend trend_of(const Expr &e, const std::string &var) {
    switch (e->op) {
    case Op::Variable: return e->name == var ? Trend::Up : Trend::Constant;
    case Op::IntImm: return Trend::Constant;
    case Op::Add: case Op::Min: case Op::Max:
        return both(trend_of(e->args[0], var), trend_of(e->args[1], var));
    case Op::Sub: return both(trend_of(e->args[0], var), opposite(trend_of(e->args[1], var)));
    case Op::Mul: case Op::Div: {
        int64_t factor = 0;
        if (!as_const_int(e->args[1], &factor)) break;
        Trend t = trend_of(e->args[0], var);
        return factor > 0 ? t : factor < 0 ? opposite(t) : Trend::Constant;
    }
    default: break;
    }
    return uses_var(e, var) ? Trend::Unknown : Trend::Constant;
}

}  // namespace

/// Sliding window (reuse-analysis.txt; Halide's store_at outside compute_at): along the innermost serial
/// loop that moves exactly one dimension of the window, and only upwards, what the last iteration
/// computed is kept, so that only the rest is computed anew.
void RegionMap::slide(FuncId id, Box &domain) {
    const FuncPlace &place = tree_.place(id);
    const std::vector<Level> &path = tree_.path_to(place.compute);
    Box needed = domain, whole, steady;
    for (const Interval &i : domain) {
        whole.push_back({expand(i.min), expand(i.max)});
        steady.push_back({expand_steady(i.min), expand_steady(i.max)});
    }
    for (size_t i = path.size(); i-- > tree_.path_to(place.store).size();) {
        const Level &loop = path[i];
        if (tree_.kind_of(loop) != LoopKind::Serial) break;
        std::vector<size_t> moved;
        for (size_t d = 0; d < whole.size(); d++)
            if (uses_var(whole[d].min, loop) || uses_var(whole[d].max, loop)) moved.push_back(d);
        if (moved.empty()) continue;
        size_t d = moved[0];
        if (moved.size() != 1 || trend_of(steady[d].max, loop) != Trend::Up ||
            trend_of(steady[d].min, loop) != Trend::Up || ends_beyond(place.stages[0], d))
            break;
        Expr at = make_variable(Int(32), loop);
        Expr last = simplify(substitute(loop, sub(at, int32(1)), whole[d].max));
        Expr fresh = greater(needed[d].min, add(last, int32(1)));
        domain[d].min = make_select(make_binary(Op::LE, at, loop_range(loop).min), needed[d].min, fresh);
        const graph::FuncNode &func = graph_[id];
        steady_values_[stage_name(func, 0) + "." + func.args[d] + ".min"] = fresh;
        fold(id, static_cast<int>(d), needed);
        return;
    }
    fold(id, -1, needed);
}

/// Whether a split of the dimension rounds up or shifts: it would compute more than what is new.
bool RegionMap::ends_beyond(const StageNest &nest, size_t dim) const {
    for (const schedule::Transform &t : nest.transforms)
        if (t.kind == schedule::Transform::Kind::Split && t.old_name == graph_[nest.func].args[dim] &&
            strategy(nest, t) != TailStrategy::GuardWithIf)
            return true;
    return false;
}

Range RegionMap::loop_range(const Level &level) {
    const StageNest &host = tree_.owner(level);
    std::vector<const StageNest *> sharers{&host};
    for (size_t i = 0; i < sharers.size(); i++)
        for (const StageNest *guest : tree_.guests(*sharers[i])) sharers.push_back(guest);
    Interval all;
    for (const StageNest *nest : sharers)
        for (const StageLoop &loop : nest->loops) {
            if (loop.name != level) continue;
            Range range = ranges(*nest).at(loop.dim.name);
            Interval here{range.min, range.max()};
            all = all.bounded() ? hull(all, here) : here;
        }
    return {simplify(all.min), simplify(add(sub(all.max, all.min), int32(1)))};
}

/// Keeps as many planes of dimension `slid` as live at once, a power of two of them so that the modulo is
/// a mask. `needed`: what one iteration of the compute level reads. What the user asked for is checked.
void RegionMap::fold(FuncId id, int slid, const Box &needed) {
    const graph::FuncNode &func = graph_[id];
    const schedule::FuncSchedule &schedule = tree_.schedule()[id];
    std::vector<Fold> &folds = folds_[id];
    const StageNest &first = tree_.place(id).stages[0];
    std::map<std::string, Expr> span = spans(first, ranges_in(first, needed));
    for (size_t d = 0; d < needed.size(); d++) {
        auto asked = std::find_if(schedule.folds.begin(), schedule.folds.end(),
                                  [&](const schedule::FoldedDim &f) { return f.var == func.args[d]; });
        std::optional<int64_t> live = upper_bound(span.at(func.args[d]));
        if (asked != schedule.folds.end()) {
            if (stored_for_many_threads(id))
                throw CompileError("fold_storage(" + func.args[d] + ") of " + func.name + " (" +
                                   to_string(func.where) + "): a parallel loop stands between where it is stored "
                                   "and where it is computed, so that threads would overwrite what others still "
                                   "need. Store it inside the parallel loop.");
            int64_t factor = 0;
            if (as_const_int(asked->factor, &factor) && (!live || *live > factor))
                throw CompileError("fold_storage(" + func.args[d] + ", " + std::to_string(factor) + ") of " +
                                   func.name + " (" + to_string(func.where) + ") is too small: " +
                                   (live ? std::to_string(*live) + " planes live at once. Fold by at least that."
                                         : std::string("how many planes live at once cannot be bounded.")));
            folds.push_back({static_cast<int>(d), asked->factor});
            continue;
        }
        const std::string &innermost = schedule.storage_order.empty() ? func.args[0] : schedule.storage_order[0];
        if (static_cast<int>(d) != slid || func.args[d] == innermost || !live || stored_for_many_threads(id))
            continue;
        int64_t factor = 1;
        while (factor < *live) factor *= 2;
        std::optional<int64_t> all = upper_bound(add(sub(storage(id)[d].max, storage(id)[d].min), int32(1)));
        if (!all || *all > factor) folds.push_back({static_cast<int>(d), int32(factor)});
    }
}

bool RegionMap::stored_for_many_threads(FuncId id) const {
    const FuncPlace &place = tree_.place(id);
    const std::vector<Level> &path = tree_.path_to(place.compute);
    return std::any_of(path.begin() + static_cast<long>(tree_.path_to(place.store).size()), path.end(),
                       [&](const Level &loop) { return tree_.kind_of(loop) == LoopKind::Parallel; });
}

const std::vector<Fold> &RegionMap::folds(FuncId id) {
    domain(id, 0);
    return folds_[id];
}

}  // namespace Pipe::region
