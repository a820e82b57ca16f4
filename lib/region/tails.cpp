// RegionMap: tail strategies of splits, and the space that they need beyond the requested region.

#include <algorithm>

#include "ir/equal.h"
#include "ir/int32.h"
#include "ir/linear.h"
#include "ir/simplify.h"
#include "ir/visit.h"
#include "region/region_map.h"
#include "schedule/print.h"

namespace Pipe::region {

using namespace ir;

TailStrategy RegionMap::strategy(const StageNest &nest, const schedules::Transform &t) const {
    const std::vector<std::string> &args = graph_[nest.func].args;
    bool of_arg = std::find(args.begin(), args.end(), t.old_name) != args.end();
    bool pure = nest.stage == 0 && of_arg;
    // For a loop that itself results from a split, the extent may be less than the factor at the
    // edge, and beyond its end lie points of the next outer iteration.
    if (t.tail == TailStrategy::Auto)
        return pure && !any_size_ ? TailStrategy::ShiftInwards : TailStrategy::GuardWithIf;
    if (t.tail == TailStrategy::RoundUp && nest.stage == 0)
        return t.tail;
    return of_arg && t.tail != TailStrategy::Predicate ? t.tail : TailStrategy::GuardWithIf;
}

namespace {

/// Whether a is provably a multiple of b.
bool is_multiple(const Expr &a, const Expr &b) {
    int64_t factor = 0;
    if (!as_const_int(b, &factor) || factor <= 0)
        return false;
    Linear sum = Linear::from_expr(a);
    return sum.constant % factor == 0 &&
           std::all_of(sum.terms.begin(), sum.terms.end(),
                       [&](const Linear::Term &t) { return t.coefficient % factor == 0; });
}

}  // namespace

Tail RegionMap::tail_of(const StageNest &nest, const schedules::Transform &t,
                        const Expr &extent) const {
    if (is_multiple(extent, t.factor))
        return Tail::None;
    switch (strategy(nest, t)) {
    case TailStrategy::RoundUp:
        return Tail::RoundUp;
    case TailStrategy::RoundUpAndBlend:
        return Tail::RoundUpAndBlend;
    case TailStrategy::ShiftInwards:
        return Tail::ShiftInwards;
    case TailStrategy::ShiftInwardsAndBlend:
        return Tail::ShiftInwardsAndBlend;
    case TailStrategy::PredicateLoads:
        return Tail::PredicateLoads;
    case TailStrategy::PredicateStores:
        return Tail::PredicateStores;
    default:
        return Tail::Guard;
    }
}

/// Whether the inner loop of a guarded split can end early instead of testing inside: it runs
/// inside the outer loop, and no loop derived from it needs a constant extent or exceeds it.
bool RegionMap::shrinks(const StageNest &nest, size_t split) const {
    const std::vector<schedules::Transform> &transforms = nest.transforms;
    auto position = [&](const std::string &name) {
        for (size_t i = 0; i < nest.loops.size(); i++)
            if (nest.loops[i].dim.name == name)
                return static_cast<int>(i);
        return -1;
    };
    enum class Part {
        Outer,      // of the guarded split
        EndsEarly,  // its inner loop, and loops outside it: their extents are not constant
        Constant,   // loops inside it: their extents stay constant
    };
    // The loops derived from a variable; false if one of them forbids it.
    std::vector<int> outer_loops, inner_loops;
    auto collect = [&](auto &&self, const std::string &var, Part part,
                       std::vector<int> &loops) -> bool {
        int here = position(var);
        if (here >= 0) {
            loops.push_back(here);
            LoopKind kind = nest.loops[here].dim.kind;
            return part != Part::EndsEarly ||
                   (kind != LoopKind::Vectorized && kind != LoopKind::Unrolled);
        }
        for (size_t i = split + 1; i < transforms.size(); i++) {
            const schedules::Transform &t = transforms[i];
            if (t.kind == schedules::Transform::Kind::Fuse && (t.inner == var || t.outer == var))
                return false;
            if (t.old_name != var)
                continue;
            if (t.kind == schedules::Transform::Kind::Rename)
                return self(self, t.outer, part, loops);
            if (t.kind == schedules::Transform::Kind::Split) {
                if (part != Part::Outer && strategy(nest, t) != TailStrategy::GuardWithIf)
                    return false;
                Part inner = part == Part::EndsEarly ? Part::Constant : part;
                return self(self, t.outer, part, loops) && self(self, t.inner, inner, loops);
            }
        }
        return false;
    };
    if (!collect(collect, transforms[split].outer, Part::Outer, outer_loops))
        return false;
    if (!collect(collect, transforms[split].inner, Part::EndsEarly, inner_loops))
        return false;
    int innermost_outer = *std::max_element(outer_loops.begin(), outer_loops.end());
    int outermost_inner = *std::min_element(inner_loops.begin(), inner_loops.end());
    return innermost_outer < outermost_inner;
}

std::vector<Tail> RegionMap::tails(const StageNest &nest) {
    return stage_tails(nest).tails;
}

StageTails RegionMap::stage_tails(const StageNest &nest) {
    const std::map<std::string, Range> all = ranges(nest);
    StageTails result;
    for (size_t i = 0; i < nest.transforms.size(); i++) {
        const schedules::Transform &t = nest.transforms[i];
        Tail tail = Tail::None;
        std::string because;
        if (t.kind == schedules::Transform::Kind::Split) {
            tail = tail_of(nest, t, all.at(t.old_name).extent);
            because = reason_of(nest, t, tail);
            if (tail == Tail::Guard && shrinks(nest, i)) {
                tail = Tail::None;
                because = "the inner loop ends early";
            }
        }
        result.tails.push_back(tail);
        result.because.push_back(std::move(because));
    }
    return result;
}

std::string RegionMap::reason_of(const StageNest &nest, const schedules::Transform &t,
                                 Tail tail) const {
    if (tail == Tail::None)
        return "the factor divides the extent";
    if (t.tail != TailStrategy::Auto)
        return std::string("the schedule gives ") + schedules::to_string(t.tail);
    if (tail == Tail::ShiftInwards)
        return "a pure definition may be computed twice at a point";
    const std::vector<std::string> &args = graph_[nest.func].args;
    const bool of_arg = std::find(args.begin(), args.end(), t.old_name) != args.end();
    if (nest.stage > 0)
        return "an update may run only once at a point";
    return of_arg ? "the extent may be less than the factor"
                  : "points of the next outer iteration lie beyond the end";
}

/// At the compute level, a tail exceeds the domain counted from its min. A box for several
/// iterations of that level contains what each of them computes beyond its own part.
Box RegionMap::reached(const StageNest &nest, const Box &domain, const Level &level, Use use) {
    const std::vector<std::string> &args = graph_[nest.func].args;
    const Level &compute = tree_.place(nest.func).compute;
    Box result = domain;
    bool ends = std::any_of(
        nest.transforms.begin(), nest.transforms.end(),
        [](const schedules::Transform &t) { return t.kind == schedules::Transform::Kind::Split; });
    if (!ends)
        return result;
    auto round_up = [&](size_t d) {
        Expr span = spans(nest, ranges_in(nest, domain), use).at(args[d]);
        result[d].max = simplify(sub(add(domain[d].min, span), int32(1)));
    };
    if (level == compute) {
        for (size_t d = 0; d < result.size(); d++)
            round_up(d);
        return result;
    }
    const Box &once = padded(nest);
    std::map<std::string, Range> ranges = ranges_in(nest, once);
    std::map<std::string, Expr> span = spans(nest, ranges, use);
    std::vector<Expr> most = most_beyond(nest, use);
    Box longest = once;
    for (size_t d = 0; d < longest.size(); d++)
        if (std::optional<int64_t> extent = upper_bound(ranges.at(args[d]).extent))
            longest[d].max = add(once[d].min, int32(*extent - 1));
    std::map<std::string, Expr> longest_span = spans(nest, ranges_in(nest, longest), use);
    for (size_t d = 0; d < result.size(); d++) {
        int64_t beyond = 0;
        if (as_const_int(simplify(sub(span.at(args[d]), ranges.at(args[d]).extent)), &beyond))
            result[d].max = add(result[d].max, int32(beyond));
        else if (same_for_all(once[d], compute, level))
            round_up(d);
        else
            result[d].max = last_of_all(nest.func, result[d].max,
                                        sub(add(once[d].min, longest_span.at(args[d])), int32(1)),
                                        most[d], level);
    }
    return result;
}

/// Per dimension, the maximum by which all its splits together exceed the domain.
std::vector<Expr> RegionMap::most_beyond(const StageNest &nest, Use use) const {
    const std::vector<std::string> &args = graph_[nest.func].args;
    std::vector<Expr> result(args.size(), int32(0));
    struct Part {
        size_t dim;
        Expr step,
            extent;  // the part of the dimension that one iteration covers, and the number of iterations
    };
    std::map<std::string, Part> parts;
    for (size_t d = 0; d < args.size(); d++)
        parts[args[d]] = {d, int32(1), make_variable(Int(32), args[d])};
    for (const schedules::Transform &t : nest.transforms) {
        using Kind = schedules::Transform::Kind;
        auto of = parts.find(t.kind == Kind::Fuse ? t.outer : t.old_name);
        if (of == parts.end())
            continue;  // an RVar
        Part whole = of->second;
        Expr unknown = make_variable(Int(32), t.old_name);
        if (t.kind == Kind::Split) {
            parts[t.outer] = {whole.dim, mul(whole.step, t.factor), unknown};
            parts[t.inner] = {whole.dim, whole.step, t.factor};
            if (goes_beyond(tail_of(nest, t, whole.extent), use))
                result[whole.dim] =
                    add(result[whole.dim], mul(whole.step, sub(t.factor, int32(1))));
        } else if (t.kind == Kind::Fuse) {
            parts[t.old_name] = {whole.dim, whole.step, unknown};
        } else {
            parts[t.outer] = whole;
        }
    }
    return result;
}

/// The domain at the compute level, with the space for its tails, before sliding.
const Box &RegionMap::padded(const StageNest &nest) {
    std::pair key(nest.func, nest.stage);
    // If the domain's own sliding window requests its storage, it is already known.
    if (!padded_.count(key))
        domain(nest.func, nest.stage);
    return padded_.at(key);
}

Box RegionMap::pad_for_tails(const StageNest &nest, Box domain, const Level &level) {
    std::pair key(nest.func, nest.stage);
    bool here = level == tree_.place(nest.func).compute;
    if (here)
        unpadded_[key] = domain;
    else if (!unpadded_.count(key))
        padded(nest);
    for (const schedules::Transform &t : nest.transforms) {
        if (t.kind != schedules::Transform::Kind::Split)
            continue;
        TailStrategy tail = strategy(nest, t);
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
void RegionMap::pad_to_factor(const StageNest &nest, size_t dim, const Expr &factor,
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
    if (level == compute || same_for_all(once, compute, level)) {
        if (slid && !empty) {
            i.min = min(i.min, add(i.max, int32(1)));
            whole = sub(add(i.min, factor), int32(1));
        }
        const Expr last = i.max, nothing = make_binary(Op::LT, i.max, i.min);
        i.max = slid || empty ? max(i.max, whole) : greater(i.max, whole);
        // Of the whole image: if a condition excludes everything, an input need not be larger.
        if (empty && compute.empty() &&
            needed_under_conditions(nest.func) == Needed::UnderConditions)
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
Expr RegionMap::last_of_all(FuncId id, const Expr &last, const Expr &once, const Expr &beyond,
                            const Level &level) {
    constexpr int few = 200;
    int nodes = 0;
    const Level &compute = tree_.place(id).compute;
    Expr most = add(last, beyond), greatest_once = greatest(once, compute, level);
    if (greatest_once.defined())
        each_node(greatest_once, [&](const ExprNode &) { return ++nodes <= few; });
    bool known = nodes > 0 && nodes <= few && !uses_lets_between(greatest_once, compute, level);
    return known ? lesser(most, greater(last, greatest_once)) : most;
}

/// Whether the needed region may be empty because a consumer's window slid without new elements.
bool RegionMap::may_have_nothing_new(const Interval &interval) const {
    Expr extent = simplify(sub(interval.max, interval.min));
    return dependencies(extent).slides && !equal(expand(extent), expand_steady(extent));
}

/// Whether the needed region may be empty because a condition is never true in an iteration.
bool RegionMap::may_be_empty(FuncId id, const Expr &extent) {
    if (needed_under_conditions(id) == Needed::Always)
        return false;
    std::optional<int64_t> most = upper_bound(sub(int32(1), extent));
    return !most || *most > 0;
}

/// Whether the Func is computed inside the inner loop of a guarded split, but around its outer
/// loop: if the inner loop has passed the end, nothing is needed.
bool RegionMap::is_guarded_further_in(FuncId id) {
    const std::vector<Level> &path = tree_.path_to(tree_.place(id).compute);
    auto is_around = [&](const StageNest &nest, const std::string &var) {
        const Level &loop = nest.loops[nest.known_in.at(var)].name;
        return std::find(path.begin(), path.end(), loop) != path.end();
    };
    return std::any_of(path.begin(), path.end(), [&](const Level &level) {
        const StageNest &nest = tree_.owner(level);
        const std::vector<Tail> ends = tails(nest);
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
RegionMap::Needed RegionMap::needed_under_conditions(FuncId id) {
    auto [known, is_new] = under_conditions_.try_emplace(id, Needed::Always);
    if (!is_new)
        return known->second;
    auto limits = [&](const graph::Stage &stage) {
        if (stage.predicate.defined())
            return Needed::UnderConditions;
        bool may_be_empty = std::any_of(stage.rvars.begin(), stage.rvars.end(), [&](const auto &r) {
            std::optional<int64_t> most = upper_bound(sub(int32(1), r.extent));
            return !most || *most > 0;
        });
        return may_be_empty ? Needed::UnlessEmpty : Needed::Always;
    };
    const std::vector<graph::Stage> &own = graph_[id].stages;
    Needed found = is_guarded_further_in(id) ? Needed::UnlessEmpty : Needed::Always;
    for (size_t update = 1; update < own.size(); update++)
        found = std::max({found, limits(own[update]),
                          has_selects(own[update]) ? Needed::UnderConditions : Needed::Always});
    for (const StageNest *reader : tree_.readers(id))
        found = std::max({found, limits(graph_[reader->func].stages[reader->stage]),
                          choices(*reader).empty() ? Needed::Always : Needed::UnderConditions,
                          needed_under_conditions(reader->func)});
    return under_conditions_[id] = found;
}

}  // namespace Pipe::region
