// RegionSolver: storage, sliding windows and storage folding.

#include <algorithm>

#include "ir/int32.h"
#include "ir/linear.h"
#include "ir/simplify.h"
#include "ir/substitute.h"
#include "ir/trend.h"
#include "region/at_most.h"
#include "region/region_solver.h"
#include "support/error_text.h"

namespace Pipe::region {

using namespace ir;

const Box &RegionSolver::storage(FuncId id) {
    Box &region = kept(id).region;
    if (!region.empty())
        return region;
    const graph::FuncNode &func = graph_[id];
    const FuncPlace &place = tree_.place(id);
    Box box = stored_by(place.stages[0], domain_at(id, 0, place.store), place.store);
    for (size_t s = 1; s < place.stages.size(); s++)
        if (tails_.stores_beyond_reads(place.stages[s])) {
            const Box &domain = domain_at(id, static_cast<int>(s), place.store);
            merge(box, stored_by(place.stages[s], domain, place.store));
            for (Interval &i : box)
                i = {simplify(i.min), simplify(i.max)};
        }
    add_unused_loads(id, box);
    return region = bind(place.store, func.name + ".storage", func, box);
}

namespace {

/// Whether the values that a Func's updates compute at a coordinate along a dimension depend on
/// that coordinate alone. (An update that stores at a Var reads the Func itself only there: other
/// definitions are rejected.)
bool is_independent_along(const graph::FuncNode &func, size_t dim) {
    return std::all_of(func.stages.begin(), func.stages.end(), [&](const graph::Stage &stage) {
        const Expr &at = stage.args[dim];
        return at->op == Op::Variable && at->name == func.args[dim];
    });
}

}  // namespace

/// Sliding window (Sioutas 2019, section 4.1; Halide's store_at outside compute_at): along the
/// innermost serial loop that moves exactly one dimension of the window monotonically, the values
/// computed in the last iteration are kept, so that only the remaining part is computed. In loops
/// further in, which need the same region each time, the first iteration computes it for all.
/// `domain`: of the last stage.
void RegionSolver::slide(FuncId id, Box &domain) {
    const FuncPlace &place = tree_.place(id);
    const std::vector<Level> &path = tree_.path_to(place.compute);
    Window &window = kept(id).window;
    window.not_sliding_because = "no loop between its store level and its compute level moves it";
    for (size_t i = path.size(); i-- > tree_.path_to(place.store).size();) {
        const Level &loop = path[i];
        std::vector<size_t> moved;
        for (size_t d = 0; d < domain.size(); d++)
            if (lets_.moves_with(domain[d].min, loop) || lets_.moves_with(domain[d].max, loop))
                moved.push_back(d);
        if (!moved.empty() && runs_once(loop)) {  // the loop that moves it is further out
            const Expr only = loop_range(loop).min;
            for (size_t d : moved)
                for (Expr *end : {&domain[d].min, &domain[d].max})
                    *end = simplify(substitute(loop, only, lets_.expand_along(*end, loop)));
            continue;
        }
        if (moved.empty() && !is_unordered(tree_.kind_of(loop))) {
            // (The first iteration of a shared loop may not belong to the stage computed in it.)
            if (!shares_loops(tree_.owner(loop)))
                window.still.push_back(loop);
            continue;
        }
        window.not_sliding_because = obstacle(id, loop, moved, domain);
        if (!window.not_sliding_because.empty())
            return;
        window.dim = static_cast<int>(moved[0]);
        window.needed = domain[moved[0]];
        find_reach(id, moved[0]);
        const Expr begin = first_iteration(id, loop);
        keep_last(id, moved[0], loop, begin, domain[moved[0]]);
        const bool runs_again = i > tree_.path_to(place.store).size();
        if (runs_again && begin.same_as(loop_range(loop).min))
            window.step = std::nullopt;  // the window returns to its begin each time the loop runs
        return;
    }
}

/// The interval that the readers need, whose own windows are whole. (What keeps it inside of the stored region, and
/// what earlier iterations have computed, only narrows it, but makes it hard to see how many planes it has.)
void RegionSolver::find_reach(FuncId id, size_t dim) {
    const graph::FuncNode &func = graph_[id];
    const schedules::FuncSchedule &schedule = tree_.schedule()[id];
    if (func.has_updates() || !schedule.alignments.empty() || !schedule.bounds.empty())
        return;
    const Interval all = required(id, tree_.place(id).compute)[dim];
    if (!all.bounded())
        return;
    Interval &reach = kept(id).window.reach;
    reach = {simplify(lets_.expand_widest(all.min)), simplify(lets_.expand_widest(all.max))};
    const std::string name = stage_name(func, 0) + "." + func.args[dim];
    lets_.define_widest(name + ".min", reach.min);
    lets_.define_widest(name + ".max", reach.max);
}

bool RegionSolver::runs_once(const Level &loop) {
    const Expr extent = loop_range(loop).extent;
    return upper_bound(extent) == 1 && upper_bound(sub(int32(0), extent)) == -1;
}

std::string RegionSolver::obstacle(FuncId id, const Level &loop, const std::vector<size_t> &moved,
                                   const Box &needed) {
    Window &window = kept(id).window;
    // A C function determines the region that it reads, which may vary irregularly between
    // iterations.
    bool from_query = std::any_of(moved.begin(), moved.end(), [&](size_t d) {
        return lets_.dependencies(needed[d].min).from_query ||
               lets_.dependencies(needed[d].max).from_query;
    });
    if (is_unordered(tree_.kind_of(loop))) {
        window.cannot = !moved.empty() && !from_query;
        return "the loop " + loop + " is not serial";
    }
    if (moved.size() != 1) {
        window.cannot = !from_query;
        return "the loop " + loop + " moves it in several dimensions";
    }
    const size_t d = moved[0];
    Trend high = from_query ? Trend::Unknown : trend_of(lets_.expand_steady(needed[d].max), loop);
    Trend low = from_query ? Trend::Unknown : trend_of(lets_.expand_steady(needed[d].min), loop);
    if ((high != Trend::Up && high != Trend::Down) || low != high) {
        window.cannot = high == Trend::BothWays || low == Trend::BothWays;
        return "it could not be shown to move monotonically with the loop " + loop;
    }
    window.up = high == Trend::Up;
    const graph::FuncNode &func = graph_[id];
    if (!is_independent_along(func, d)) {
        window.cannot = true;
        return "its updates store at computed coordinates along " + func.args[d];
    }
    const schedules::FuncSchedule &schedule = tree_.schedule()[id];
    auto is_d = [&](const auto &promise) { return promise.var == func.args[d]; };
    if (func.has_updates() &&
        (std::any_of(schedule.alignments.begin(), schedule.alignments.end(), is_d) ||
         std::any_of(schedule.bounds.begin(), schedule.bounds.end(), is_d)))
        return "the regions of its definitions are aligned or bounded individually";
    for (const StageNest &nest : tree_.place(id).stages) {
        if (tails_.ends_beyond(nest, d))
            return "a split of the dimension computes more than the new values";
        if (func.has_updates() && shares_loops(nest))
            return "its updates share loops";
    }
    return "";
}

/// The value of the loop in its very first iteration while the Func is stored. A loop over rows
/// that slide themselves runs many times, each time over the new rows: each run continues the
/// previous one, and the contents of a window along it remain valid. (If the window were refilled
/// in each run, a chain of windows, each in the loop of the next, would take time exponential in
/// its length.)
Expr RegionSolver::first_iteration(FuncId id, const Level &loop) {
    const Expr begin = loop_range(loop).min;
    const StageNest &parent = tree_.owner(loop);
    const Window &rows = kept(parent.func).window;
    if (!rows.first.defined() || shares_loops(parent))
        return begin;
    const int last_stage = static_cast<int>(graph_[parent.func].stages.size()) - 1;
    const Interval &fresh = domain(parent.func, last_stage)[static_cast<size_t>(rows.dim)];
    auto same = [](const Expr &a, const Expr &b) {
        return constant_difference(simplify(a), simplify(b)) == 0;
    };
    const bool over_rows = parent.stage == last_stage && same(begin, fresh.min) &&
                           same(loop_range(loop).max(), fresh.max);
    // If the Func that owns the rows is stored anew, its rows restart; then this window must
    // restart, too.
    const std::vector<Level> &path = tree_.path_to(loop);
    const size_t moves_rows = tree_.path_to(rows.loop).size();
    const bool lives_as_long =
        tree_.encloses(tree_.place(id).store, tree_.place(parent.func).store);
    const bool once_per_move =
        std::all_of(path.begin() + static_cast<long>(moves_rows), path.end() - 1,
                    [&](const Level &between) { return runs_once(between); });
    return over_rows && lives_as_long && once_per_move ? rows.first : begin;
}

/// Reduces a window to the part that earlier iterations of the loop, which begins at `begin`, have
/// not computed.
void RegionSolver::keep_last(FuncId id, size_t dim, const Level &loop, const Expr &begin,
                             Interval &window) {
    const bool up = kept(id).window.up;
    Expr at = make_variable(Int(32), loop), one = int32(1);
    Expr first = make_binary(Op::LE, at, begin);
    Expr &end = up ? window.min : window.max;
    const Expr &leading = up ? window.max : window.min;
    Expr last = simplify(substitute(loop, sub(at, one), lets_.expand_along(leading, loop)));
    Expr fresh = up ? greater(end, add(last, one)) : lesser(end, sub(last, one));
    kept(id).window.step =
        upper_bound(lets_.expand_steady(up ? sub(leading, last) : sub(last, leading)));
    const graph::FuncNode &func = graph_[id];
    const int last_stage = static_cast<int>(func.stages.size()) - 1;
    const std::string name = stage_name(func, last_stage) + "." + func.args[dim];
    lets_.define_steady(name + (up ? ".min" : ".max"), fresh);
    const Expr along = simplify(lets_.expand_along(end, loop));
    kept(id).window.loop = loop;
    // If successive iterations are contiguous, and none is empty.
    if (up && at_most(along, add(last, one)) &&
        at_most(along, simplify(lets_.expand_along(leading, loop))))
        kept(id).window.first = lets_.bind(loop, name + ".first", substitute(loop, begin, along));
    end = make_select(first, end, fresh);
}

Range RegionSolver::loop_range(const Level &level) {
    const StageNest &parent = tree_.owner(level);
    std::vector<const StageNest *> sharers{&parent};
    for (size_t i = 0; i < sharers.size(); i++)
        for (const StageNest *child : tree_.children(*sharers[i]))
            sharers.push_back(child);
    Interval all;
    for (const StageNest *nest : sharers)
        for (const StageLoop &loop : nest->loops) {
            if (loop.name != level)
                continue;
            Range range = ranges(*nest).at(loop.dim.name);
            Expr moved = shift(*nest, loop);
            Interval here{simplify(sub(range.min, moved)), simplify(sub(range.max(), moved))};
            all = all.bounded() ? hull(all, here) : here;
        }
    return {simplify(all.min), simplify(add(sub(all.max, all.min), int32(1)))};
}

void RegionSolver::reject_fold(FuncId id, const std::string &dim, const std::string &why) const {
    const graph::FuncNode &func = graph_[id];
    throw CompileError("fold_storage(" + support::marked(support::Field::Dimension, dim) + ") of " +
                       graph::located_name(func) + ": " + why);
}

/// The number of planes of each dimension, and of each loop variable, that one computation stores.
std::map<std::string, Expr> RegionSolver::planes(FuncId id, const Box &needed) {
    const FuncPlace &place = tree_.place(id);
    const StageNest &first = place.stages[0];
    std::map<std::string, Expr> span = tails_.spans(first, ranges_in(first, needed), Use::Stores);
    for (const StageNest &nest : place.stages)
        if (nest.stage > 0 && tails_.stores_beyond_reads(nest))
            for (const auto &[var, more] : tails_.spans(nest, ranges_in(nest, needed), Use::Stores))
                if (auto known = span.find(var); known != span.end())
                    known->second = max(known->second, more);
    return span;
}

/// Keeps as many planes of the dimension that slides as are live at a time, and of those that the user
/// folds. `needed`: the region that one iteration of the compute level reads.
void RegionSolver::fold(FuncId id, Box needed) {
    const graph::FuncNode &func = graph_[id];
    const Window &window = kept(id).window;
    const int slid = window.dim;
    if (slid >= 0)
        needed[static_cast<size_t>(slid)] = window.needed;
    const std::vector<schedules::FoldedDim> &all = tree_.schedule()[id].folds;
    std::map<std::string, Expr> span = planes(id, needed);
    for (size_t d = 0; d < needed.size(); d++) {
        auto requested = std::find_if(all.begin(), all.end(), [&](const schedules::FoldedDim &f) {
            return f.var == func.args[d];
        });
        std::optional<int64_t> live = upper_bound(span.at(func.args[d]));
        if (static_cast<int>(d) == slid && window.reach.bounded()) {
            Box reached = needed;
            reached[d] = window.reach;
            const std::optional<int64_t> most = upper_bound(planes(id, reached).at(func.args[d]));
            if (most && (!live || *most < *live))
                live = most;
        }
        if (requested != all.end()) {
            check_fold(id, d, *requested, needed[d], live);
            kept(id).folds.push_back({static_cast<int>(d), requested->factor, *live});
        } else if (static_cast<int>(d) == slid) {
            fold_window(id, d, live);
        }
    }
    if (window.cannot)
        throw CompileError(
            "store_at or store_root of " + graph::located_name(func) +
            ": the window cannot slide: " + window.not_sliding_because +
            ". All of it would be recomputed in each iteration. Compute and store it at one "
            "level; to hoist only its memory, use hoist_storage.");
}

/// Folds the dimension along which the window slides, to a power of two so that the modulo is a mask.
void RegionSolver::fold_window(FuncId id, size_t d, std::optional<int64_t> live) {
    const std::vector<std::string> &args = graph_[id].args;
    const schedules::FuncSchedule &schedule = tree_.schedule()[id];
    const std::string &innermost =
        schedule.storage_order.empty() ? args[0] : schedule.storage_order[0];
    std::string &obstacle = kept(id).not_folded_because;
    if (args[d] == innermost && schedule.memory != MemoryType::Register)
        obstacle = "rows stay whole";  // unless they must have a constant size
    else if (!live)
        obstacle = "the number of planes that are live at a time is not known at compile time";
    else if (stored_for_many(id))
        obstacle =
            "a parallel or vectorized loop lies between its store level and its compute level";
    else if (schedule.async)
        obstacle = "it is async, and can be computed far ahead";
    if (!obstacle.empty())
        return;
    int64_t factor = 1;
    while (factor < *live)
        factor *= 2;
    std::optional<int64_t> all =
        upper_bound(add(sub(storage(id)[d].max, storage(id)[d].min), int32(1)));
    if (!all || *all > factor)
        kept(id).folds.push_back({static_cast<int>(d), int32(factor), *live});
    else
        obstacle = "all of it is no more than the planes that are live at a time";
}

/// Refuses a fold_storage that would lose values.
void RegionSolver::check_fold(FuncId id, size_t d, const schedules::FoldedDim &requested,
                              const Interval &needed, std::optional<int64_t> live) const {
    const std::vector<std::string> &args = graph_[id].args;
    const FuncPlace &place = tree_.place(id);
    const Window &window = kept_[static_cast<size_t>(id)].window;
    const std::string &dim = args[d];
    if (stored_for_many(id))
        reject_fold(id, dim,
                    "a parallel or vectorized loop lies between its store level and its "
                    "compute level, so that threads or lanes would overwrite values that "
                    "others still need. Store it inside that loop.");
    const bool moves =
        place.store != place.compute && !same_for_all(needed, place.compute, place.store);
    if (moves && static_cast<int>(d) != window.dim) {
        std::string why = window.dim >= 0
                              ? "it slides along " + args[static_cast<size_t>(window.dim)]
                              : window.not_sliding_because;
        reject_fold(id, dim,
                    "the window cannot slide along " + dim + ": " + why +
                        ". Compute and store it at one level, or make the window move along " +
                        dim + " with a serial loop.");
    }
    if (moves && requested.forward != window.up)
        reject_fold(id, dim,
                    window.up ? "the window moves upwards, so it is folded forward. Leave out "
                                "the `false`."
                              : "the window moves downwards: fold it backward, with `false`.");
    int64_t factor = 0;
    if (!as_const_int(requested.factor, &factor))
        reject_fold(id, dim, "the factor must be a constant.");
    if (!live)
        reject_fold(id, dim,
                    "the number of planes that are live at a time depends on sizes that are not "
                    "known at compile time. Compute it further in (compute_at), or "
                    "bound the range of " +
                        dim + " (bound).");
    if (*live > factor)
        reject_fold(id, dim,
                    "the factor " + std::to_string(factor) +
                        " is too small: " + std::to_string(*live) +
                        " planes are live at a time. Use at least this factor.");
}

bool RegionSolver::stored_for_many(FuncId id) const {
    const FuncPlace &place = tree_.place(id);
    const std::vector<Level> &path = tree_.path_to(place.compute);
    return std::any_of(path.begin() + static_cast<long>(tree_.path_to(place.store).size()),
                       path.end(),
                       [&](const Level &loop) { return is_unordered(tree_.kind_of(loop)); });
}

const FuncStorage &RegionSolver::place(FuncId id) {
    domain(id, 0);
    FuncStorage &result = kept(id);
    result.relative = tree_.place(id).hoist != tree_.place(id).store;
    if (result.relative)
        storage(id);
    return result;
}

}  // namespace Pipe::region
