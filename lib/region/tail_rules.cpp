#include "region/tail_rules.h"

#include <algorithm>
#include <set>

#include "ir/equal.h"
#include "ir/int32.h"
#include "ir/linear.h"
#include "ir/simplify.h"
#include "schedule/print.h"

namespace Pipe::region {

using namespace ir;

TailStrategy TailRules::strategy(const StageNest &nest, const schedules::Transform &t) const {
    const std::vector<std::string> &args = graph_[nest.func].args;
    bool of_arg = std::find(args.begin(), args.end(), t.old_name) != args.end();
    bool pure = nest.stage == 0 && of_arg;
    // For a loop that itself results from a split, the extent may be less than the factor at the
    // edge, and beyond its end lie points of the next outer iteration.
    if (t.tail == TailStrategy::Auto)
        return pure && !any_size_ ? TailStrategy::ShiftInwards : TailStrategy::GuardWithIf;
    if (t.tail == TailStrategy::RoundUp && nest.stage == 0)
        return t.tail;
    // The stores of an atomic update are loads, too.
    if (t.tail == TailStrategy::PredicateLoads && nest.atomic)
        return TailStrategy::GuardWithIf;
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

Tail TailRules::tail_of(const StageNest &nest, const schedules::Transform &t,
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
bool TailRules::shrinks(const StageNest &nest, size_t split) const {
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
            return part != Part::EndsEarly || !needs_constant_extent(nest.loops[here].dim.kind);
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

StageTails TailRules::stage_tails(const StageNest &nest,
                                  const std::map<std::string, Range> &ranges) const {
    StageTails result;
    for (size_t i = 0; i < nest.transforms.size(); i++) {
        const schedules::Transform &t = nest.transforms[i];
        Tail tail = Tail::None;
        std::string because;
        if (t.kind == schedules::Transform::Kind::Split) {
            tail = tail_of(nest, t, ranges.at(t.old_name).extent);
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

std::string TailRules::reason_of(const StageNest &nest, const schedules::Transform &t,
                                 Tail tail) const {
    if (tail == Tail::None)
        return "the factor divides the extent";
    if (t.tail == TailStrategy::PredicateLoads && nest.atomic)
        return "the stores of an atomic update are loads, too";
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

/// Per dimension, the maximum by which all its splits together exceed the domain.
std::vector<Expr> TailRules::most_beyond(const StageNest &nest, Use use) const {
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

/// Whether an update stores elements that the definitions before it may not have computed.
bool TailRules::stores_beyond_reads(const StageNest &nest) const {
    return std::any_of(nest.transforms.begin(), nest.transforms.end(),
                       [&](const schedules::Transform &t) {
                           return t.kind == schedules::Transform::Kind::Split &&
                                  strategy(nest, t) == TailStrategy::PredicateLoads;
                       });
}

/// Whether a split of the dimension, or of a loop derived from it, rounds up or shifts: it would
/// compute more than the new part.
bool TailRules::ends_beyond(const StageNest &nest, size_t dim) const {
    using Kind = schedules::Transform::Kind;
    std::set<std::string> made{graph_[nest.func].args[dim]};
    for (const schedules::Transform &t : nest.transforms) {
        if (t.kind == Kind::Fuse) {
            if (made.count(t.inner) || made.count(t.outer))
                made.insert(t.old_name);
        } else if (made.count(t.old_name)) {
            if (t.kind == Kind::Split && strategy(nest, t) != TailStrategy::GuardWithIf)
                return true;
            made.insert(t.outer);
            if (t.kind == Kind::Split)
                made.insert(t.inner);
        }
    }
    return false;
}

/// The number of values that each variable takes, starting at its min, when all loops run: more
/// than its extent if a split rounds up.
std::map<std::string, Expr>
TailRules::spans(const StageNest &nest, const std::map<std::string, Range> &ranges, Use use) const {
    std::map<std::string, Expr> result;
    for (const auto &[var, range] : ranges)
        result[var] = range.extent;
    const std::vector<schedules::Transform> &transforms = nest.transforms;
    for (size_t i = transforms.size(); i-- > 0;) {
        const schedules::Transform &t = transforms[i];
        using Kind = schedules::Transform::Kind;
        const Range &old = ranges.at(t.old_name);
        if (t.kind == Kind::Rename) {
            result[t.old_name] = result.at(t.outer);
        } else if (t.kind == Kind::Fuse) {
            const Expr &span = result.at(t.old_name);
            if (!equal(span, old.extent))
                result[t.outer] = simplify(ceil_div(span, ranges.at(t.inner).extent));
        } else if (Tail tail = tail_of(nest, t, old.extent); !guards(tail, use)) {
            Expr whole = add(mul(sub(result.at(t.outer), int32(1)), t.factor), result.at(t.inner));
            bool exact = equal(result.at(t.inner), t.factor) && !goes_beyond(tail, use) &&
                         equal(result.at(t.outer), ranges.at(t.outer).extent);
            result[t.old_name] = exact ? old.extent : simplify(whole);
        }
    }
    return result;
}

LoopKind TailRules::kind(const StageLoop &loop, const Range &range) const {
    const bool constant = as_const_int(range.extent, nullptr);
    return any_size_ && !constant && needs_constant_extent(loop.dim.kind) ? LoopKind::Serial
                                                                          : loop.dim.kind;
}

TailPlan plan_tails(const LoopTree &tree, const Demand &demand, const TailRules &rules) {
    TailPlan plan;
    plan.stages.resize(tree.graph().funcs.size());
    for (const graph::FuncNode &func : tree.graph().funcs)
        for (const StageNest &nest : tree.place(func.id).stages) {
            StageTails &tails = plan.stages[static_cast<size_t>(func.id)].emplace_back();
            const std::map<std::string, Range> &ranges = demand.of(nest).ranges;
            if (ranges.empty())
                continue;
            tails = rules.stage_tails(nest, ranges);
            for (const StageLoop &loop : nest.loops)
                if (const auto range = demand.loops.find(loop.name); range != demand.loops.end())
                    tails.kinds.push_back(rules.kind(loop, range->second));
        }
    return plan;
}

}  // namespace Pipe::region
