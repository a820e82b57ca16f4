#include "region/region_map.h"

#include <algorithm>
#include <functional>

#include "ir/equal.h"
#include "ir/linear.h"
#include "ir/print.h"
#include "ir/simplify.h"
#include "ir/substitute.h"
#include "ir/visit.h"

namespace Pipe::region {

using namespace ir;

namespace {

Expr int32(int64_t value) { return make_int(Int(32), value); }

/// A sum of at most three variables: short enough to be repeated instead of named.
bool is_short(const Expr &e) {
    Linear linear = Linear::from_expr(e);
    if (linear.terms.size() > 3) return false;
    return std::all_of(linear.terms.begin(), linear.terms.end(),
                       [](const Linear::Term &t) { return t.atom->op == Op::Variable; });
}

Expr ceil_div(const Expr &a, const Expr &b) { return div(add(a, sub(b, int32(1))), b); }

const schedule::Bound *find_bound(const std::vector<schedule::Bound> &bounds, const std::string &var) {
    for (const schedule::Bound &b : bounds)
        if (b.var == var) return &b;
    return nullptr;
}

}  // namespace

RegionMap::RegionMap(const LoopTree &tree, bool any_size)
    : tree_(tree), graph_(tree.graph()), any_size_(any_size) {}

// ---- demand -------------------------------------------------------------------------------------

const Box &RegionMap::domain(FuncId func, int stage) {
    return domain_at(func, stage, tree_.place(func).compute);
}

const Box &RegionMap::domain_at(FuncId id, int stage, const Level &level) {
    auto key = std::tuple(id, stage, level);
    auto found = domains_.find(key);
    if (found != domains_.end()) return found->second;

    const graph::FuncNode &func = graph_[id];
    const FuncPlace &place = tree_.place(id);
    bool here = level == place.compute;
    bool last = stage + 1 == static_cast<int>(func.stages.size());
    Box box;
    if (!last) {
        box = domain_at(id, stage + 1, level);
        const Touched &later = touched(place.stages[stage + 1], level);
        auto self = later.find(func.name);
        if (self != later.end()) merge(box, self->second);
    } else if (func.is_output) {
        for (size_t d = 0; d < func.args.size(); d++) {
            std::string dim = std::to_string(d);
            std::string buffer = graph::buffer_name(func, 0);
            Expr min = make_variable(Int(32), buffer + ".min." + dim);
            Expr extent = make_variable(Int(32), buffer + ".extent." + dim);
            box.push_back({min, sub(add(min, extent), int32(1))});
        }
    } else {
        box = required(id, level);
    }
    require_bounded(box, func.name, &func);
    for (size_t d = 0; d < box.size(); d++)
        if (const schedule::Bound *bound = find_bound(tree_.schedule()[id].bounds, func.args[d])) {
            if (bound->min.defined()) box[d].min = bound->min;
            box[d].max = sub(add(box[d].min, bound->extent), int32(1));
        }
    std::string prefix = stage_name(func, stage);
    if (!func.is_output) {
        box = pad_for_tails(place.stages[stage], std::move(box), level);
        if (here && last && stage == 0 && place.store != place.compute) {
            for (Interval &i : box) i = {simplify(i.min), simplify(i.max)};
            slide(id, box);
        } else if (here && last) {
            fold(id, -1, box);
        }
    }
    if (!here) prefix += "@" + level;
    return domains_[key] = bind(level, prefix, func, box);
}

Box RegionMap::required(FuncId id, const Level &level) {
    const graph::FuncNode &func = graph_[id];
    Box box;
    for (const StageNest *reader : tree_.readers(id)) {
        const Touched &touches = touched(*reader, level);
        auto found = touches.find(func.name);
        if (found != touches.end()) merge(box, found->second);
    }
    if (box.empty()) throw InternalError("nothing requires " + func.name);
    return box;
}

const Touched &RegionMap::touched(const StageNest &nest, const Level &level) {
    auto key = std::tuple(nest.func, nest.stage, level);
    auto found = touched_.find(key);
    if (found != touched_.end()) return found->second;
    const graph::FuncNode &func = graph_[nest.func];
    const graph::Stage &stage = func.stages[nest.stage];
    IntervalScope scope = scope_of(nest, level);
    Touched result;
    if (stage.predicate.defined()) {
        add_touched(stage.predicate, scope, result);
        scope = narrowed(scope, stage.predicate);
    }
    for (const Expr &e : stage.values) add_touched(e, scope, result);
    if (nest.stage > 0) {
        Box written;
        for (const Expr &e : stage.args) {
            add_touched(e, scope, result);
            written.push_back(bounds_of(e, scope));
        }
        merge(result[func.name], written);
    }
    return touched_[key] = std::move(result);
}

Box RegionMap::demand(FuncId id) {
    return tree_.readers(id).empty() ? Box() : required(id, "");
}

const Box &RegionMap::image(const std::string &name) {
    auto found = images_.find(name);
    if (found != images_.end()) return found->second;
    Box box;
    for (const graph::FuncNode &func : graph_.funcs)
        for (const StageNest &nest : tree_.place(func.id).stages) {
            const Touched &touches = touched(nest, "");
            auto here = touches.find(name);
            if (here == touches.end()) continue;
            require_bounded(here->second, name, nullptr);
            merge(box, here->second);
        }
    for (Interval &i : box) i = {simplify(i.min), simplify(i.max)};
    return images_[name] = std::move(box);
}

void RegionMap::require_bounded(const Box &box, const std::string &what, const graph::FuncNode *callee) {
    for (size_t d = 0; d < box.size(); d++) {
        if (box[d].bounded()) continue;
        std::string dim = callee ? "dimension " + std::to_string(d) + " (" + callee->args[d] + ")"
                                 : "dimension " + std::to_string(d);
        std::string users;
        for (const graph::FuncNode &func : graph_.funcs)
            for (const graph::Stage &stage : func.stages) {
                bool reads = false;
                std::unordered_map<const ExprNode *, bool> seen;
                for (const Expr &e : stage.values)
                    walk(e, [&](const Expr &n) {
                        if (!seen.emplace(n.get(), true).second) return false;
                        reads |= n->op == Op::Call && n->name == what && func.name != what;
                        return true;
                    });
                if (!reads) continue;
                users += (users.empty() ? " It is read by " : ", ") + func.name;
                if (stage.where.known()) users += " (" + to_string(stage.where) + ")";
            }
        throw CompileError("Unbounded access: which part of " + what + " is needed in " + dim +
                           " cannot be bounded." + users +
                           ". Put clamp(index, lowest, highest) around the index that depends on data.");
    }
}

// ---- nests --------------------------------------------------------------------------------------

TailStrategy RegionMap::strategy(const StageNest &nest, const schedule::Transform &t) const {
    const std::vector<std::string> &args = graph_[nest.func].args;
    bool pure = nest.stage == 0 && std::find(args.begin(), args.end(), t.old_name) != args.end();
    switch (t.tail) {
    case TailStrategy::Auto: return pure && !any_size_ ? TailStrategy::ShiftInwards : TailStrategy::GuardWithIf;
    case TailStrategy::ShiftInwards:
    case TailStrategy::ShiftInwardsAndBlend:
        // Of a loop that itself came from a split, the extent may be short of the factor at the edge.
        return pure ? TailStrategy::ShiftInwards : TailStrategy::GuardWithIf;
    case TailStrategy::RoundUp:
    case TailStrategy::RoundUpAndBlend: return TailStrategy::RoundUp;
    default: return TailStrategy::GuardWithIf;
    }
}

Tail RegionMap::tail_of(const StageNest &nest, const schedule::Transform &t, const Expr &extent) const {
    int64_t e = 0, f = 0;
    if (as_const_int(extent, &e) && as_const_int(t.factor, &f) && f > 0 && e % f == 0) return Tail::None;
    switch (strategy(nest, t)) {
    case TailStrategy::RoundUp: return Tail::RoundUp;
    case TailStrategy::ShiftInwards: return Tail::ShiftInwards;
    default: return Tail::Guard;
    }
}

/// Whether the inner loop of a guarded split may simply end earlier, instead of being tested inside:
/// it runs inside the outer one, and nothing made of it needs a constant extent or goes beyond it.
bool RegionMap::shrinks(const StageNest &nest, size_t split) const {
    const std::vector<schedule::Transform> &transforms = nest.schedule->transforms;
    auto position = [&](const std::string &name) {
        for (size_t i = 0; i < nest.loops.size(); i++)
            if (nest.loops[i].dim.name == name) return static_cast<int>(i);
        return -1;
    };
    // The loops that are made of a variable; false if one of them forbids.
    std::vector<int> outer_loops, inner_loops;
    auto collect = [&](auto &&self, const std::string &var, bool check, std::vector<int> &loops) -> bool {
        int here = position(var);
        if (here >= 0) {
            loops.push_back(here);
            LoopKind kind = nest.loops[here].dim.kind;
            return !check || (kind != LoopKind::Vectorized && kind != LoopKind::Unrolled);
        }
        for (size_t i = split + 1; i < transforms.size(); i++) {
            const schedule::Transform &t = transforms[i];
            if (t.kind == schedule::Transform::Kind::Fuse && (t.inner == var || t.outer == var)) return false;
            if (t.old_name != var) continue;
            if (t.kind == schedule::Transform::Kind::Rename) return self(self, t.outer, check, loops);
            if (t.kind == schedule::Transform::Kind::Split) {
                if (check && strategy(nest, t) != TailStrategy::GuardWithIf) return false;
                // The inner half of the inner keeps its constant extent and its own guard.
                return self(self, t.outer, check, loops) && self(self, t.inner, false, loops);
            }
        }
        return false;
    };
    if (!collect(collect, transforms[split].outer, false, outer_loops)) return false;
    if (!collect(collect, transforms[split].inner, true, inner_loops)) return false;
    int innermost_outer = *std::max_element(outer_loops.begin(), outer_loops.end());
    int outermost_inner = *std::min_element(inner_loops.begin(), inner_loops.end());
    return innermost_outer < outermost_inner;
}

std::map<std::string, Range> RegionMap::ranges_in(const StageNest &nest, const Box &domain) {
    const graph::FuncNode &func = graph_[nest.func];
    std::map<std::string, Range> ranges;
    for (size_t d = 0; d < domain.size(); d++)
        ranges[func.args[d]] = {domain[d].min,
                                simplify(add(sub(domain[d].max, domain[d].min), int32(1)))};
    for (const graph::ReductionVar &r : func.stages[nest.stage].rvars) ranges[r.name] = {r.min, r.extent};

    const std::vector<schedule::Transform> &transforms = nest.schedule->transforms;
    for (size_t i = 0; i < transforms.size(); i++) {
        const schedule::Transform &t = transforms[i];
        using Kind = schedule::Transform::Kind;
        if (t.kind == Kind::Rename) {
            ranges[t.outer] = ranges.at(t.old_name);
        } else if (t.kind == Kind::Fuse) {
            ranges[t.old_name] = {int32(0), simplify(mul(ranges.at(t.inner).extent, ranges.at(t.outer).extent))};
        } else {
            const Expr extent = ranges.at(t.old_name).extent;
            Tail tail = tail_of(nest, t, extent);
            Expr inner = t.factor;
            if (tail == Tail::Guard && shrinks(nest, i))
                inner = min(t.factor, sub(extent, mul(tree_.variable(nest, t.outer), t.factor)));
            ranges[t.inner] = {int32(0), simplify(inner)};
            ranges[t.outer] = {int32(0), simplify(ceil_div(extent, t.factor))};
        }
    }
    return ranges;
}

std::map<std::string, Range> RegionMap::ranges(const StageNest &nest) {
    return ranges_in(nest, domain(nest.func, nest.stage));
}

std::vector<Tail> RegionMap::tails(const StageNest &nest) {
    std::map<std::string, Range> all = ranges(nest);
    std::vector<Tail> result;
    for (const schedule::Transform &t : nest.schedule->transforms) {
        bool is_split = t.kind == schedule::Transform::Kind::Split;
        result.push_back(is_split ? tail_of(nest, t, all.at(t.old_name).extent)
                                  : Tail::None);
    }
    for (size_t i = 0; i < result.size(); i++)
        if (result[i] == Tail::Guard && shrinks(nest, i)) result[i] = Tail::None;
    return result;
}

// ---- what a nest's variables are, seen from a level ---------------------------------------------

IntervalScope RegionMap::scope_of(const StageNest &nest, const Level &level) {
    const graph::FuncNode &func = graph_[nest.func];
    const Level &compute = tree_.place(nest.func).compute;
    const Box &domain = domain_at(nest.func, nest.stage, tree_.encloses(level, compute) ? level : compute);
    std::map<std::string, View> seen = views(nest, level, domain);
    IntervalScope scope;
    for (const std::string &arg : func.args) scope.push(arg, seen.at(arg).interval);
    for (const graph::ReductionVar &r : func.stages[nest.stage].rvars)
        scope.push(r.name, seen.at(r.name).interval);
    return scope;
}

std::map<std::string, RegionMap::View> RegionMap::views(const StageNest &nest, const Level &level,
                                                        const Box &domain) {
    std::map<std::string, Range> ranges = ranges_in(nest, domain);
    std::map<std::string, Expr> spans = this->spans(nest, ranges);
    auto full = [&](const std::string &var) {
        const Range &r = ranges.at(var);
        return View{Seen::Full, {r.min, simplify(sub(add(r.min, spans.at(var)), int32(1)))}};
    };
    std::map<std::string, View> result;
    auto level_at = std::find_if(nest.loops.begin(), nest.loops.end(),
                                 [&](const StageLoop &l) { return l.name == level; });
    bool fixed = level_at != nest.loops.end();
    for (auto loop = nest.loops.begin(); loop != nest.loops.end(); ++loop) {
        const std::string &var = loop->dim.name;
        result[var] = fixed ? View{Seen::Point, Interval::point(make_variable(Int(32), loop->name))} : full(var);
        if (loop == level_at) fixed = false;
    }
    const std::vector<schedule::Transform> &transforms = nest.schedule->transforms;
    for (size_t i = transforms.size(); i-- > 0;) {
        const schedule::Transform &t = transforms[i];
        using Kind = schedule::Transform::Kind;
        if (t.kind == Kind::Rename) {
            result[t.old_name] = result.at(t.outer);
        } else if (t.kind == Kind::Fuse) {
            const View &fused = result.at(t.old_name);
            const Range &in = ranges.at(t.inner), &out = ranges.at(t.outer);
            bool point = fused.seen == Seen::Point;
            auto half = [&](const std::string &var, const Expr &value) {
                return point ? View{Seen::Point, Interval::point(simplify(value))} : full(var);
            };
            const Expr &at = fused.interval.min;
            result[t.inner] = half(t.inner, add(mod(at, in.extent), in.min));
            result[t.outer] = half(t.outer, add(div(at, in.extent), out.min));
        } else {
            const View &outer = result.at(t.outer), &inner = result.at(t.inner);
            if (outer.seen == Seen::Full && inner.seen == Seen::Full)
                result[t.old_name] = full(t.old_name);
            else
                result[t.old_name] = view_of_split(
                    t, tail_of(nest, t, ranges.at(t.old_name).extent), ranges, full(t.old_name), outer, inner);
        }
    }
    return result;
}

RegionMap::View RegionMap::view_of_split(const schedule::Transform &t, Tail tail,
                                         const std::map<std::string, Range> &ranges, const View &full,
                                         const View &outer, const View &inner) {
    const Range &old = ranges.at(t.old_name);
    if (outer.seen == Seen::Full) return {Seen::Part, full.interval};
    auto base = [&](const Expr &at) {
        Expr offset = mul(at, t.factor);
        if (tail == Tail::ShiftInwards) offset = lesser(offset, simplify(sub(old.extent, t.factor)));
        return add(offset, old.min);
    };
    if (outer.seen == Seen::Point && inner.seen == Seen::Point)
        return {Seen::Point, Interval::point(simplify(add(base(outer.interval.min), inner.interval.min)))};
    Interval inside = inner.interval;
    if (inner.seen == Seen::Full && tail != Tail::RoundUp) inside.max = simplify(sub(t.factor, int32(1)));
    Interval result{simplify(add(base(outer.interval.min), inside.min)),
                    simplify(add(base(outer.interval.max), inside.max))};
    if (tail == Tail::Guard) result.max = simplify(lesser(result.max, full.interval.max));
    return {Seen::Part, result};
}

/// How many values each variable takes from its min on when all loops run: more than its extent where a
/// split rounds up.
std::map<std::string, Expr> RegionMap::spans(const StageNest &nest, const std::map<std::string, Range> &ranges) {
    std::map<std::string, Expr> result;
    for (const auto &[var, range] : ranges) result[var] = range.extent;
    const std::vector<schedule::Transform> &transforms = nest.schedule->transforms;
    for (size_t i = transforms.size(); i-- > 0;) {
        const schedule::Transform &t = transforms[i];
        using Kind = schedule::Transform::Kind;
        const Range &old = ranges.at(t.old_name);
        if (t.kind == Kind::Rename) {
            result[t.old_name] = result.at(t.outer);
        } else if (t.kind == Kind::Fuse) {
            result[t.outer] = simplify(ceil_div(result.at(t.old_name), ranges.at(t.inner).extent));
        } else if (tail_of(nest, t, old.extent) != Tail::Guard) {
            Expr whole = add(mul(sub(result.at(t.outer), int32(1)), t.factor), result.at(t.inner));
            bool exact = equal(result.at(t.inner), t.factor) &&
                         tail_of(nest, t, old.extent) != Tail::RoundUp &&
                         equal(result.at(t.outer), ranges.at(t.outer).extent);
            result[t.old_name] = exact ? old.extent : simplify(whole);
        }
    }
    return result;
}

Box RegionMap::computed(FuncId id, int stage) {
    const StageNest &nest = tree_.place(id).stages[stage];
    Box result = domain(id, stage);
    std::map<std::string, Expr> span = spans(nest, ranges(nest));
    for (size_t d = 0; d < result.size(); d++)
        result[d].max = simplify(sub(add(result[d].min, span.at(graph_[id].args[d])), int32(1)));
    return result;
}

/// Room for what tails compute beyond the domain. A split that shifts inwards needs at least one whole
/// factor; a box for several iterations of the compute level must hold what each of them computes, where
/// it is short of a factor or rounds up.
Box RegionMap::pad_for_tails(const StageNest &nest, Box domain, const Level &level) {
    const graph::FuncNode &func = graph_[nest.func];
    const Level &compute = tree_.place(nest.func).compute;
    bool here = level == compute;
    if (here) unpadded_[{nest.func, nest.stage}] = domain;
    for (const schedule::Transform &t : nest.schedule->transforms) {
        if (t.kind != schedule::Transform::Kind::Split) continue;
        bool shift = strategy(nest, t) == TailStrategy::ShiftInwards;
        bool round = strategy(nest, t) == TailStrategy::RoundUp;
        for (size_t d = 0; d < domain.size(); d++) {
            if (func.args[d] != t.old_name || !(shift || round)) continue;
            Interval &i = domain[d];
            Expr whole = greater(i.max, sub(add(i.min, t.factor), int32(1)));
            if (here) {
                if (shift) i.max = whole;
                continue;
            }
            // While the domain's own sliding window asks for its storage, it is known already.
            if (!unpadded_.count({nest.func, nest.stage})) domain_at(nest.func, nest.stage, compute);
            const Interval &once = unpadded_.at({nest.func, nest.stage})[d];
            Expr extent = simplify(expand(add(sub(once.max, once.min), int32(1))));
            int64_t e = 0, f = 0;
            if (as_const_int(extent, &e) && as_const_int(t.factor, &f) && e > 0 && f > 0) {
                int64_t pad = shift ? std::max<int64_t>(f - e, 0) : (e + f - 1) / f * f - e;
                i.max = add(i.max, int32(pad));
            } else if (same_for_all(once, compute, level)) {
                if (shift) i.max = whole;
            } else if (std::optional<int64_t> missing = upper_bound(sub(t.factor, extent));
                       !shift || !missing || *missing > 0) {
                i.max = add(i.max, sub(t.factor, int32(1)));
            }
        }
    }
    return domain;
}

/// Whether an interval does not move with the loops between two levels.
bool RegionMap::same_for_all(const Interval &interval, const Level &inner, const Level &outer) const {
    const std::vector<Level> &path = tree_.path_to(inner);
    Expr min = expand(interval.min), max = expand(interval.max);
    for (size_t i = tree_.path_to(outer).size(); i < path.size(); i++)
        if (uses_var(min, path[i]) || uses_var(max, path[i])) return false;
    return true;
}

// ---- storage, sliding windows, folding ----------------------------------------------------------

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
    for (const schedule::Transform &t : nest.schedule->transforms)
        if (t.kind == schedule::Transform::Kind::Split && t.old_name == graph_[nest.func].args[dim] &&
            strategy(nest, t) != TailStrategy::GuardWithIf)
            return true;
    return false;
}

Range RegionMap::loop_range(const Level &level) {
    const StageNest &host = tree_.owner(level);
    std::vector<const StageNest *> sharers = tree_.guests(host);
    sharers.insert(sharers.begin(), &host);
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
    for (size_t d = 0; d < needed.size(); d++) {
        auto asked = std::find_if(schedule.folds.begin(), schedule.folds.end(),
                                  [&](const schedule::FoldedDim &f) { return f.var == func.args[d]; });
        std::optional<int64_t> live = upper_bound(add(sub(needed[d].max, needed[d].min), int32(1)));
        if (asked != schedule.folds.end()) {
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
        if (static_cast<int>(d) != slid || func.args[d] == innermost || !live) continue;
        int64_t factor = 1;
        while (factor < *live) factor *= 2;
        std::optional<int64_t> all = upper_bound(add(sub(storage(id)[d].max, storage(id)[d].min), int32(1)));
        if (!all || *all > factor) folds.push_back({static_cast<int>(d), int32(factor)});
    }
}

const std::vector<Fold> &RegionMap::folds(FuncId id) {
    domain(id, 0);
    return folds_[id];
}

// ---- names --------------------------------------------------------------------------------------

const std::vector<std::pair<std::string, Expr>> &RegionMap::lets(const Level &level) { return lets_[level]; }

Expr RegionMap::bind(const Level &level, const std::string &name, const Expr &value) {
    Expr simple = simplify(value);
    if (is_short(simple)) return simple;
    lets_[level].emplace_back(name, simple);
    let_values_[name] = simple;
    return make_variable(Int(32), name);
}

Box RegionMap::bind(const Level &level, const std::string &prefix, const graph::FuncNode &func, const Box &box) {
    Box result;
    for (size_t d = 0; d < box.size(); d++) {
        std::string name = prefix + "." + func.args[d];
        Expr min = bind(level, name + ".min", box[d].min);
        result.push_back({min, bind(level, name + ".max", box[d].max)});
    }
    return result;
}

namespace {

class Expander : public GraphMutator {
  public:
    Expander(const std::map<std::string, Expr> &lets, const std::map<std::string, Expr> &first)
        : lets_(lets), first_(first) {}

  protected:
    Expr rewrite(const Expr &e) override {
        if (e->op != Op::Variable) return GraphMutator::rewrite(e);
        auto preferred = first_.find(e->name);
        if (preferred != first_.end()) return mutate(preferred->second);
        auto found = lets_.find(e->name);
        return found == lets_.end() ? e : mutate(found->second);
    }

  private:
    const std::map<std::string, Expr> &lets_, &first_;
};

}  // namespace

Expr RegionMap::expand(const Expr &e) const {
    static const std::map<std::string, Expr> nothing;
    return Expander(let_values_, nothing).mutate(e); }

Expr RegionMap::expand_steady(const Expr &e) const {
    return Expander(let_values_, steady_values_).mutate(e);
}

// ---- constant bounds ----------------------------------------------------------------------------

namespace {

class UpperBound {
  public:
    /// `extent_of`: the constant extent of a loop that starts at 0, if it is one.
    explicit UpperBound(std::function<std::optional<int64_t>(const std::string &)> extent_of)
        : extent_of_(std::move(extent_of)) {}

    std::optional<int64_t> of(const Linear &sum, int depth = 0) {
        if (sum.terms.empty()) return std::optional<int64_t>(sum.constant);
        if (depth > 10) return std::nullopt;
        std::optional<int64_t> best;
        auto consider = [&](std::optional<int64_t> bound) {
            if (bound && (!best || *bound < *best)) best = bound;
        };
        for (const Linear::Term &term : sum.terms) {
            const Expr &atom = term.atom;
            auto with = [&](const Expr &value) {
                Linear rest = sum;
                rest.add(Linear::from_expr(atom), -term.coefficient);
                rest.add(Linear::from_expr(simplify(value)), term.coefficient);
                return of(rest, depth + 1);
            };
            auto larger = [&](const Expr &a, const Expr &b) -> std::optional<int64_t> {
                std::optional<int64_t> p = with(a);
                if (!p) return p;
                std::optional<int64_t> q = with(b);
                return q ? std::max(*p, *q) : q;
            };
            bool up = term.coefficient > 0;
            if (atom->op == (up ? Op::Min : Op::Max)) {
                consider(with(atom->args[0]));
                consider(with(atom->args[1]));
            } else if (atom->op == (up ? Op::Max : Op::Min)) {
                consider(larger(atom->args[0], atom->args[1]));
            } else if (atom->op == Op::Select) {
                consider(larger(atom->args[1], atom->args[2]));
            } else if (atom->op == Op::Div) {
                consider(quotients(sum, term, depth));
            } else if (atom->op == Op::Mod) {
                int64_t m = 0;
                if (as_const_int(atom->args[1], &m) && m > 0) consider(with(int32(up ? m - 1 : 0)));
            } else if (atom->op == Op::Variable) {
                if (std::optional<int64_t> extent = extent_of_(atom->name))
                    consider(with(int32(up ? std::max<int64_t>(*extent - 1, 0) : 0)));
            }
            if (best) return best;
        }
        return best;
    }

  private:
    /// k*(a/d) - k*(b/d) <= k*ceil((a - b)/d)
    std::optional<int64_t> quotients(const Linear &sum, const Linear::Term &term, int depth) {
        int64_t d = 0;
        if (!as_const_int(term.atom->args[1], &d) || d <= 0) return std::nullopt;
        for (const Linear::Term &other : sum.terms) {
            int64_t d2 = 0;
            if (other.atom->op != Op::Div || other.coefficient != -term.coefficient ||
                !as_const_int(other.atom->args[1], &d2) || d2 != d)
                continue;
            const Linear::Term &plus = term.coefficient > 0 ? term : other;
            const Linear::Term &minus = term.coefficient > 0 ? other : term;
            Linear difference = Linear::from_expr(plus.atom->args[0]);
            difference.add(Linear::from_expr(minus.atom->args[0]), -1);
            std::optional<int64_t> gap = of(difference, depth + 1);
            if (!gap) continue;
            Linear rest = sum;
            rest.add(Linear::from_expr(plus.atom), -plus.coefficient);
            rest.add(Linear::from_expr(minus.atom), -minus.coefficient);
            std::optional<int64_t> others = of(rest, depth + 1);
            int64_t steps = *gap >= 0 ? (*gap + d - 1) / d : -(-*gap / d);
            if (others) return *others + plus.coefficient * steps;
        }
        return std::nullopt;
    }

    std::function<std::optional<int64_t>(const std::string &)> extent_of_;
};

}  // namespace

std::optional<int64_t> RegionMap::upper_bound(const Expr &e) {
    UpperBound bound([this](const std::string &name) -> std::optional<int64_t> {
        if (!tree_.is_loop(name)) return std::nullopt;
        Range range = loop_range(name);
        int64_t extent = 0;
        if (!is_const(range.min, 0) || !as_const_int(range.extent, &extent)) return std::nullopt;
        return extent;
    });
    return bound.of(Linear::from_expr(simplify(expand(e))));
}

}  // namespace Pipe::region
