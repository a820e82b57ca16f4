// RegionSolver: the ranges of the variables of a stage's loop nest, seen from a level.

#include <algorithm>

#include "ir/equal.h"
#include "ir/int32.h"
#include "ir/simplify.h"
#include "region/nest_variables.h"
#include "region/region_solver.h"

namespace Pipe::region {

using namespace ir;

std::map<std::string, Range> RegionSolver::ranges_in(const StageNest &nest, const Box &domain) {
    const graph::FuncNode &func = graph_[nest.func];
    for (const StageLoop &loop : nest.loops)
        if (loop.shifted)
            shift(nest, loop);  // which binds its variable
    std::map<std::string, Range> ranges;
    for (size_t d = 0; d < domain.size(); d++)
        ranges[func.args[d]] = {domain[d].min,
                                simplify(add(sub(domain[d].max, domain[d].min), int32(1)))};
    for (const graph::ReductionVar &r : func.stages[nest.stage].rvars)
        ranges[r.name] = {r.min, r.extent};

    const std::vector<schedules::Transform> &transforms = nest.transforms;
    for (size_t i = 0; i < transforms.size(); i++) {
        const schedules::Transform &t = transforms[i];
        using Kind = schedules::Transform::Kind;
        if (t.kind == Kind::Rename) {
            ranges[t.outer] = ranges.at(t.old_name);
        } else if (t.kind == Kind::Fuse) {
            ranges[t.old_name] = {int32(0), simplify(fused_extent(ranges.at(t.inner).extent,
                                                                  ranges.at(t.outer).extent))};
        } else {
            const Expr extent = ranges.at(t.old_name).extent;
            Tail tail = tails_.tail_of(nest, t, extent);
            Expr inner = t.factor;
            if (tail == Tail::Guard && tails_.shrinks(nest, i))
                inner = min(t.factor, sub(extent, mul(tree_.variable(nest, t.outer), t.factor)));
            ranges[t.inner] = {int32(0), simplify(inner)};
            ranges[t.outer] = {int32(0), simplify(ceil_div(extent, t.factor))};
        }
    }
    if (shares_loops(nest))
        for (size_t i = 0; i < transforms.size(); i++)
            if (tails_.shrinks(nest, i))
                define_from_loops(nest, transforms[i].outer, ranges);
    return ranges;
}

/// The value of a variable that was split, or is part of a fused loop. The position in a shared loop may depend on it,
/// see position(), through the range of a guarded split.
void RegionSolver::define_from_loops(const StageNest &nest, const std::string &name,
                                     const std::map<std::string, Range> &ranges) {
    using Kind = schedules::Transform::Kind;
    for (const schedules::Transform &t : nest.transforms) {
        const bool fused = t.kind == Kind::Fuse;
        if (fused ? name != t.inner && name != t.outer : name != t.old_name)
            continue;
        define_from_loops(nest, fused ? t.old_name : t.outer, ranges);
        Expr offset;
        if (t.kind == Kind::Split) {
            define_from_loops(nest, t.inner, ranges);
            offset = mul(tree_.variable(nest, t.outer), t.factor);
            if (const Expr &extent = ranges.at(name).extent;
                shifts(tails_.tail_of(nest, t, extent)))
                offset = min(offset, sub(extent, t.factor));
        }
        for (const auto &[made, value] : taken_apart(tree_, nest, t, ranges, offset))
            if (made == tree_.variable(nest, name)->name)
                lets_.define(made, value);
    }
}

/// The product of two empty loops is empty, although both extents may be negative.
Expr RegionSolver::fused_extent(const Expr &inner, const Expr &outer) {
    auto may_be_negative = [&](const Expr &extent) {
        std::optional<int64_t> most = upper_bound(sub(int32(0), extent));
        return !most || *most > 0;
    };
    bool both = may_be_negative(inner) && may_be_negative(outer);
    return mul(both ? max(inner, int32(0)) : inner, outer);
}

std::map<std::string, Range> RegionSolver::ranges(const StageNest &nest) {
    return ranges_in(nest, domain(nest.func, nest.stage));
}

IntervalScope RegionSolver::scope_of(const StageNest &nest, const Level &level, Use use) {
    const graph::FuncNode &func = graph_[nest.func];
    const Level &compute = tree_.place(nest.func).compute;
    const Level &around = tree_.encloses(level, compute) ? level : compute;
    const Box &domain = domain_at(nest.func, nest.stage, around);
    std::map<std::string, View> seen = views(nest, level, domain, use);
    Box several = around != compute ? reached(nest, domain, around, use) : Box();
    IntervalScope scope;
    // An update loops only over the pure variables that it uses.
    for (size_t d = 0; d < func.args.size(); d++)
        if (auto view = seen.find(func.args[d]); view != seen.end())
            scope.push(func.args[d], around != compute ? several[d] : view->second.interval);
    for (const graph::ReductionVar &r : func.stages[nest.stage].rvars)
        scope.push(r.name, seen.at(r.name).interval);
    add_values(func, scope);
    return scope;
}

std::map<std::string, RegionSolver::View>
RegionSolver::views(const StageNest &nest, const Level &level, const Box &domain, Use use) {
    std::map<std::string, Range> ranges = ranges_in(nest, domain);
    std::map<std::string, Expr> spans = tails_.spans(nest, ranges, use);
    auto full = [&](const std::string &var) {
        const Range &r = ranges.at(var);
        int64_t count = 0;
        // Facts about a point (its remainder, for example) that hold at outer levels also hold
        // here.
        if (as_const_int(spans.at(var), &count) && count == 1)
            return View{Coverage::Full, Interval::point(r.min)};
        return View{Coverage::Full, {r.min, simplify(sub(add(r.min, spans.at(var)), int32(1)))}};
    };
    std::map<std::string, View> result;
    auto level_at = std::find_if(nest.loops.begin(), nest.loops.end(),
                                 [&](const StageLoop &l) { return l.name == level; });
    bool fixed = level_at != nest.loops.end();
    for (auto loop = nest.loops.begin(); loop != nest.loops.end(); ++loop) {
        const std::string &var = loop->dim.name;
        result[var] =
            fixed ? View{Coverage::Point, Interval::point(position(nest, *loop, ranges.at(var)))}
                  : full(var);
        if (loop == level_at)
            fixed = false;
    }
    const std::vector<schedules::Transform> &transforms = nest.transforms;
    for (size_t i = transforms.size(); i-- > 0;) {
        const schedules::Transform &t = transforms[i];
        using Kind = schedules::Transform::Kind;
        if (t.kind == Kind::Rename) {
            result[t.old_name] = result.at(t.outer);
        } else if (t.kind == Kind::Fuse) {
            const View &fused = result.at(t.old_name);
            const Range &in = ranges.at(t.inner), &out = ranges.at(t.outer);
            bool point = fused.seen == Coverage::Point;
            auto half = [&](const std::string &var, const Expr &value) {
                return point ? View{Coverage::Point, Interval::point(simplify(value))} : full(var);
            };
            const Expr &at = fused.interval.min;
            result[t.inner] = half(t.inner, add(mod(at, in.extent), in.min));
            result[t.outer] = half(t.outer, add(div(at, in.extent), out.min));
        } else {
            const View &outer = result.at(t.outer), &inner = result.at(t.inner);
            if (outer.seen == Coverage::Full && inner.seen == Coverage::Full)
                result[t.old_name] = full(t.old_name);
            else
                result[t.old_name] = view_of_split(nest, t, ranges.at(t.old_name), full(t.old_name),
                                                   outer, inner, use);
        }
    }
    return result;
}

/// The position of the stage in one of its loops. A shared loop (compute_with) may run beyond the
/// stage's own range: there the stage does nothing, so the position is clamped to the range.
Expr RegionSolver::position(const StageNest &nest, const StageLoop &loop, const Range &own) {
    Expr at = make_variable(Int(32), loop.name);
    if (!shares_loops(nest))
        return at;
    Expr moved = shift(nest, loop);
    at = add(at, moved);
    Range all = loop_range(loop.name);
    bool ends = prove_le(add(all.max(), moved), own.max());
    if (!ends)
        at = min(at, own.max());
    // The inner loop of a guarded split is empty beyond the stage's end, so the minimum is taken
    // last.
    bool begins = prove_le(own.min, add(all.min, moved)) && (ends || prove_le(own.min, own.max()));
    return begins ? at : max(at, own.min);
}

/// While the range on which the result depends is being computed, it is not available, and not
/// needed.
Expr RegionSolver::shift(const StageNest &nest, const StageLoop &loop) {
    if (!loop.shifted)
        return int32(0);
    const std::string name = tree_.variable(nest, loop.dim.name)->name;
    auto [known, is_new] = shifts_.try_emplace(name);
    if (!is_new)
        return known->second;
    const StageNest &parent = *tree_.find_stage(nest.named_level.func, nest.named_level.stage);
    const StageLoop &other = parent.loops.at(static_cast<size_t>(&loop - nest.loops.data()));
    Expr result = shift(parent, other);
    if (loop.align != LoopAlignStrategy::NoAlign) {
        Range own = ranges(nest).at(loop.dim.name), his = ranges(parent).at(other.dim.name);
        bool start = loop.align == LoopAlignStrategy::AlignStart;
        result = add(result, start ? sub(own.min, his.min) : sub(own.max(), his.max()));
    }
    known->second = simplify(result);
    lets_.define(name, add(make_variable(Int(32), loop.name), known->second));
    return known->second;
}

bool RegionSolver::shares_loops(const StageNest &nest) const {
    return tree_.shared_loops(nest) > 0 || !tree_.children(nest).empty();
}

RegionSolver::View RegionSolver::view_of_split(const StageNest &nest, const schedules::Transform &t,
                                               const Range &old, const View &full,
                                               const View &outer, const View &inner, Use use) {
    if (outer.seen == Coverage::Full)
        return {Coverage::Part, full.interval};
    Tail tail = tails_.tail_of(nest, t, old.extent);
    auto base = [&](const Expr &at) {
        Expr offset = mul(at, t.factor);
        if (!shifts(tail))
            return add(offset, old.min);
        Expr last = simplify(sub(old.extent, t.factor));
        // If position() clamps to the stage's own range, the named offset would exceed it.
        bool kept = at->op == Op::Min || at->op == Op::Max;
        if (outer.seen == Coverage::Point && !kept) {
            lets_.define(shifted_offset(graph_, nest, t)->name, simplify(min(offset, last)));
            offset = shifted_offset(graph_, nest, t);
        } else {
            offset = lesser(offset, last);
        }
        return add(offset, old.min);
    };
    if (outer.seen == Coverage::Point && inner.seen == Coverage::Point) {
        Expr at = simplify(add(base(outer.interval.min), inner.interval.min));
        // Inside a shared loop only the stage itself is guarded, not its producers; and not by a
        // mask.
        if (guards(tail, use) && (tail != Tail::Guard || shares_loops(nest)))
            at = simplify(lesser(at, full.interval.max));
        return {Coverage::Point, Interval::point(at)};
    }
    Interval inside = inner.interval;
    // (If a split of the inner loop rounds up, this exceeds the factor.)
    if (inner.seen == Coverage::Full && !goes_beyond(tail, use))
        inside.max = greater(inside.max, simplify(sub(t.factor, int32(1))));
    Interval result{simplify(add(base(outer.interval.min), inside.min)),
                    simplify(add(base(outer.interval.max), inside.max))};
    if (guards(tail, use))
        result.max = simplify(lesser(result.max, full.interval.max));
    return {Coverage::Part, result};
}

Box RegionSolver::computed(FuncId id, int stage) {
    return stored_by(tree_.place(id).stages[stage], domain(id, stage), tree_.place(id).compute);
}

void RegionSolver::provide(FuncId id) {
    int last = static_cast<int>(graph_[id].stages.size()) - 1;
    domain(id, last);
    kept(id).provided = bind(tree_.place(id).compute, graph_[id].name + ".provided", graph_[id],
                             unpadded_.at({id, last}));
}

Box RegionSolver::stored_by(const StageNest &nest, const Box &domain, const Level &level) {
    const graph::Stage &stage = graph_[nest.func].stages[nest.stage];
    const std::vector<std::string> &args = graph_[nest.func].args;
    Box result = reached(nest, domain, level, Use::Stores);
    for (size_t d = 0; d < result.size(); d++) {
        const Expr &arg = stage.args[d];
        bool loops = nest.stage == 0 || (arg->op == Op::Variable && arg->name == args[d]);
        if (!loops)
            result[d] = domain[d];
    }
    return result;
}

/// Whether an interval is invariant in the loops between two levels.
bool RegionSolver::same_for_all(const Interval &interval, const Level &inner,
                                const Level &outer) const {
    const std::vector<Level> &path = tree_.path_to(inner);
    std::set<std::string> min = lets_.dependencies(interval.min).variables,
                          max = lets_.dependencies(interval.max).variables;
    for (size_t i = tree_.path_to(outer).size(); i < path.size(); i++)
        if (min.count(path[i]) || max.count(path[i]))
            return false;
    return true;
}

}  // namespace Pipe::region
