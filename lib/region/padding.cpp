// RegionSolver: the space that tails of splits need beyond the requested region, and whether anything is
// needed at all.

#include <algorithm>

#include "ir/equal.h"
#include "ir/int32.h"
#include "ir/simplify.h"
#include "ir/visit.h"
#include "region/region_solver.h"

namespace Pipe::region {

using namespace ir;

/// At the compute level, a tail exceeds the domain counted from its min. A box for several
/// iterations of that level contains what each of them computes beyond its own part.
Box RegionSolver::reached(const StageNest &nest, const Box &domain, const Level &level, Use use) {
    const std::vector<std::string> &args = graph_[nest.func].args;
    const Level &compute = tree_.place(nest.func).compute;
    Box result = domain;
    bool ends = std::any_of(
        nest.transforms.begin(), nest.transforms.end(),
        [](const schedules::Transform &t) { return t.kind == schedules::Transform::Kind::Split; });
    if (!ends)
        return result;
    auto round_up = [&](size_t d) {
        Expr span = tails_.spans(nest, ranges_in(nest, domain), use).at(args[d]);
        result[d].max = simplify(sub(add(domain[d].min, span), int32(1)));
    };
    if (level == compute) {
        for (size_t d = 0; d < result.size(); d++)
            round_up(d);
        return result;
    }
    const Box &once = padded(nest);
    std::map<std::string, Range> ranges = ranges_in(nest, once);
    std::map<std::string, Expr> span = tails_.spans(nest, ranges, use);
    std::vector<Expr> most = tails_.most_beyond(nest, use);
    Box longest = once;
    for (size_t d = 0; d < longest.size(); d++)
        if (std::optional<int64_t> extent = upper_bound(ranges.at(args[d]).extent))
            longest[d].max = add(once[d].min, int32(*extent - 1));
    std::map<std::string, Expr> longest_span = tails_.spans(nest, ranges_in(nest, longest), use);
    for (size_t d = 0; d < result.size(); d++) {
        int64_t beyond = 0;
        if (as_const_int(simplify(sub(span.at(args[d]), ranges.at(args[d]).extent)), &beyond))
            result[d].max = add(result[d].max, int32(beyond));
        else if (same_for_all(once[d], compute, level) && starts_at(once[d], result[d]))
            round_up(d);
        else
            result[d].max = last_of_all(nest.func, result[d].max,
                                        sub(add(once[d].min, longest_span.at(args[d])), int32(1)),
                                        most[d], level);
    }
    return result;
}

/// Whether both begin at the same point. What is known at an outer level may be less: its box is larger.
bool RegionSolver::starts_at(const Interval &once, const Interval &box) const {
    return equal(simplify(lets_.expand(once.min)), simplify(lets_.expand(box.min)));
}

/// The domain at the compute level, with the space for its tails, before sliding.
const Box &RegionSolver::padded(const StageNest &nest) {
    std::pair key(nest.func, nest.stage);
    // If the domain's own sliding window requests its storage, it is already known.
    if (!padded_.count(key))
        domain(nest.func, nest.stage);
    return padded_.at(key);
}

Box RegionSolver::pad_for_tails(const StageNest &nest, Box domain, const Level &level) {
    std::pair key(nest.func, nest.stage);
    bool here = level == tree_.place(nest.func).compute;
    if (here)
        unpadded_[key] = domain;
    else if (!unpadded_.count(key))
        padded(nest);
    for (const schedules::Transform &t : nest.transforms) {
        if (t.kind != schedules::Transform::Kind::Split)
            continue;
        TailStrategy tail = tails_.strategy(nest, t);
        if (tail != TailStrategy::ShiftInwards && tail != TailStrategy::ShiftInwardsAndBlend)
            continue;
        for (size_t d = 0; d < domain.size(); d++)
            if (graph_[nest.func].args[d] == t.old_name)
                pad_to_factor(nest, d, t.factor, level, domain[d]);
    }
    if (here)
        padded_[key] = domain;
    return domain;
}

/// A split that shifts inwards needs space for at least one whole factor; in a box for several
/// iterations of the compute level, each of them may be shorter.
void RegionSolver::pad_to_factor(const StageNest &nest, size_t dim, const Expr &factor,
                                 const Level &level, Interval &i) {
    const Level &compute = tree_.place(nest.func).compute;
    const Interval once = unpadded_.at({nest.func, nest.stage})[dim];
    Expr extent = simplify(add(sub(once.max, once.min), int32(1)));
    int64_t e = 0, f = 0;
    if (as_const_int(extent, &e) && as_const_int(factor, &f) && e > 0 && f > 0) {
        i.max = add(i.max, int32(std::max<int64_t>(f - e, 0)));
        return;
    }
    bool empty = may_be_empty(nest.func, extent), slid = may_have_nothing_new(once);
    Expr whole = sub(add(i.min, factor), int32(1));
    if (level == compute || (same_for_all(once, compute, level) && starts_at(once, i))) {
        if (slid && !empty) {
            i.min = min(i.min, add(i.max, int32(1)));
            whole = sub(add(i.min, factor), int32(1));
        }
        const Expr last = i.max, nothing = make_binary(Op::LT, i.max, i.min);
        i.max = slid || empty ? max(i.max, whole) : greater(i.max, whole);
        // Of the whole image: if a condition excludes everything, an input need not be larger.
        if (empty && compute.empty() && needed_under_conditions(nest.func) == Need::UnderConditions)
            i.max = make_select(nothing, last, i.max);
    } else if (std::optional<int64_t> missing = upper_bound(sub(factor, extent));
               !missing || *missing > 0) {
        if (slid || empty)
            i.max = add(i.max, factor);
        else
            i.max = last_of_all(nest.func, i.max, sub(add(once.min, factor), int32(1)),
                                sub(factor, int32(1)), level);
        if (empty)
            i.max = max(i.max, whole);
    }
}

/// (If it is small, because it appears in the regions of all Funcs that this one reads.)
Expr RegionSolver::last_of_all(FuncId id, const Expr &last, const Expr &once, const Expr &beyond,
                               const Level &level) {
    constexpr int few = 200;
    int nodes = 0;
    const Level &compute = tree_.place(id).compute;
    Expr most = add(last, beyond), greatest_once = bounds_.greatest(once, compute, level);
    if (greatest_once.defined())
        each_node(greatest_once, [&](const ExprNode &) { return ++nodes <= few; });
    bool known =
        nodes > 0 && nodes <= few && !bounds_.uses_lets_between(greatest_once, compute, level);
    return known ? lesser(most, greater(last, greatest_once)) : most;
}

/// Whether the needed region may be empty because a consumer's window slid without new elements.
bool RegionSolver::may_have_nothing_new(const Interval &interval) const {
    Expr extent = simplify(sub(interval.max, interval.min));
    return lets_.dependencies(extent).slides &&
           !equal(lets_.expand(extent), lets_.expand_steady(extent));
}

/// Whether the needed region may be empty because a condition is never true in an iteration.
bool RegionSolver::may_be_empty(FuncId id, const Expr &extent) {
    if (needed_under_conditions(id) == Need::Always)
        return false;
    std::optional<int64_t> most = upper_bound(sub(int32(1), extent));
    return !most || *most > 0;
}

/// Whether the Func is computed inside the inner loop of a guarded split, but around its outer
/// loop: if the inner loop has passed the end, nothing is needed.
bool RegionSolver::is_guarded_further_in(FuncId id) {
    const std::vector<Level> &path = tree_.path_to(tree_.place(id).compute);
    auto is_around = [&](const StageNest &nest, const std::string &var) {
        const Level &loop = nest.loops[nest.known_in.at(var)].name;
        return std::find(path.begin(), path.end(), loop) != path.end();
    };
    return std::any_of(path.begin(), path.end(), [&](const Level &level) {
        const StageNest &nest = tree_.owner(level);
        const std::vector<Tail> ends = stage_tails(nest).tails;
        for (size_t i = 0; i < nest.transforms.size(); i++) {
            const schedules::Transform &t = nest.transforms[i];
            if (t.kind == schedules::Transform::Kind::Split && ends[i] == Tail::Guard &&
                is_around(nest, t.inner) && !is_around(nest, t.old_name))
                return true;
        }
        return false;
    });
}

/// Whether there may be iterations that need nothing of the Func, because a condition, a guard or
/// an empty RDom limits what a direct or indirect reader, or one of its own updates, needs.
RegionSolver::Need RegionSolver::needed_under_conditions(FuncId id) {
    auto [known, is_new] = under_conditions_.try_emplace(id, Need::Always);
    if (!is_new)
        return known->second;
    auto limits = [&](const graph::Stage &stage) {
        if (stage.predicate.defined())
            return Need::UnderConditions;
        bool may_be_empty = std::any_of(stage.rvars.begin(), stage.rvars.end(), [&](const auto &r) {
            std::optional<int64_t> most = upper_bound(sub(int32(1), r.extent));
            return !most || *most > 0;
        });
        return may_be_empty ? Need::UnlessEmpty : Need::Always;
    };
    const std::vector<graph::Stage> &own = graph_[id].stages;
    Need found = is_guarded_further_in(id) ? Need::UnlessEmpty : Need::Always;
    for (size_t update = 1; update < own.size(); update++)
        found = std::max({found, limits(own[update]),
                          has_selects(own[update]) ? Need::UnderConditions : Need::Always});
    for (const StageNest *reader : tree_.readers(id))
        found = std::max({found, limits(graph_[reader->func].stages[reader->stage]),
                          choices(*reader).empty() ? Need::Always : Need::UnderConditions,
                          needed_under_conditions(reader->func)});
    return under_conditions_[id] = found;
}

}  // namespace Pipe::region
