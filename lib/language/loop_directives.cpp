// Directives that transform the loop nest of a definition.

#include <algorithm>

#include <fmt/format.h>

#include "ir/print.h"
#include "language/contents.h"
#include "language/match.h"
#include "language/nest.h"
#include "schedule/print.h"
#include "support/error_text.h"
#include "support/text.h"
#include <pipe/func.h>

namespace Pipe {

using language::call_text;
using language::Nest;
using schedules::Dim;
using schedules::StageSchedule;
using schedules::Transform;

namespace {

/// The alignments by loop name; all these loops must be shared: outside of `innermost`.
std::vector<std::pair<std::string, LoopAlignStrategy>>
moved(const Nest &nest, const VarOrRVar &innermost, const LoopAlignments &align) {
    std::vector<std::pair<std::string, LoopAlignStrategy>> result;
    for (const auto &[loop, strategy] : align) {
        if (nest.find(loop) < nest.find(innermost))
            nest.fail(fmt::format("the loop '{}' is inside '{}', so it is not shared and cannot be "
                                  "aligned with another.",
                                  loop.name, innermost.name));
        if (strategy == LoopAlignStrategy::AlignStart || strategy == LoopAlignStrategy::AlignEnd)
            result.emplace_back(loop.name, strategy);
    }
    return result;
}

void share_loops(Nest &nest, const schedules::LoopLevel &level, const VarOrRVar &innermost,
                 const LoopAlignments &align) {
    bool no_loop = innermost.name == schedules::outermost_loop;
    if (!no_loop)
        nest.find(innermost);
    if (!nest.stage().specialization().empty() || !nest.schedule().specializations.empty())
        nest.fail(
            "a definition with specializations cannot share loops. Leave one of the two out.");
    nest.schedule().fuse_level = level;
    nest.schedule().fuse_align.clear();
    if (!no_loop)
        nest.schedule().fuse_align = moved(nest, innermost, align);
    nest.done();
}

/// Splitting a loop that already has a kind: parallel stays outside, vectorized and unrolled
/// inside.
void inherit_kind(const Dim &old, Dim &outer, Dim &inner) {
    const bool inside = needs_constant_extent(old.kind);
    outer.kind = inside ? LoopKind::Serial : old.kind;
    inner.kind = inside ? old.kind : LoopKind::Serial;
}

/// The fused loop inherits the kind of one of the two, and the position of `outer`.
void inherit_kinds(const Nest &nest, const Dim &inner, Dim &outer) {
    if (inner.kind != LoopKind::Serial && outer.kind != LoopKind::Serial &&
        inner.kind != outer.kind)
        nest.fail(
            fmt::format("'{}' has {}(), but '{}' has {}(), and one loop cannot have both. Fuse "
                        "first.",
                        inner.name, schedules::to_string(inner.kind), outer.name,
                        schedules::to_string(outer.kind)));
    if (inner.kind != LoopKind::Serial)
        outer.kind = inner.kind;
    if (inner.partition != Partition::Auto)
        outer.partition = inner.partition;
}

}  // namespace

template <typename Self>
Self &LoopDirectives<Self>::split(const VarOrRVar &old, const VarOrRVar &outer,
                                  const VarOrRVar &inner, const Expr &factor, TailStrategy tail) {
    Nest nest(stage(), call_text("split", {old.name, outer.name, inner.name}));
    StageSchedule &s = nest.schedule();
    size_t at = nest.find(old);
    nest.check_new(outer.name, old.name);
    nest.check_new(inner.name, old.name);
    if (outer.name == inner.name)
        nest.fail("the two new loops need different names. Use a different Var for one of them.");
    nest.check_splittable(old.name);
    nest.check_tail(s.dims[at], tail);
    Transform t{Transform::Kind::Split,    old.name, outer.name, inner.name,
                nest.check_factor(factor), tail};
    Dim before = s.dims[at], out = before, in = before;
    out.name = outer.name;
    in.name = inner.name;
    inherit_kind(before, out, in);
    s.dims[at] = out;
    s.dims.insert(s.dims.begin() + static_cast<long>(at), in);
    nest.done(std::move(t));
    return self();
}

template <typename Self>
Self &LoopDirectives<Self>::fuse(const VarOrRVar &inner, const VarOrRVar &outer,
                                 const VarOrRVar &fused) {
    Nest nest(stage(), call_text("fuse", {inner.name, outer.name, fused.name}));
    StageSchedule &s = nest.schedule();
    size_t in = nest.find(inner), out = nest.find(outer);
    if (in == out)
        nest.fail("a loop cannot be fused with itself. Name two loops.");
    if (fused.name != inner.name)
        nest.check_new(fused.name, outer.name);
    inherit_kinds(nest, s.dims[in], s.dims[out]);
    s.dims[out].name = fused.name;
    s.dims[out].is_reduction |= s.dims[in].is_reduction;
    s.dims.erase(s.dims.begin() + static_cast<long>(in));
    nest.done(
        {Transform::Kind::Fuse, fused.name, outer.name, inner.name, Expr(), TailStrategy::Auto});
    return self();
}

template <typename Self>
Self &LoopDirectives<Self>::rename(const VarOrRVar &old, const VarOrRVar &now) {
    Nest nest(stage(), call_text("rename", {old.name, now.name}));
    StageSchedule &s = nest.schedule();
    size_t at = nest.find(old);
    nest.check_new(now.name, old.name);
    s.dims[at].name = now.name;
    nest.done({Transform::Kind::Rename, old.name, now.name, "", Expr(), TailStrategy::Auto});
    return self();
}

template <typename Self> Self &LoopDirectives<Self>::reorder(const std::vector<VarOrRVar> &loops) {
    std::vector<std::string> names;
    for (const VarOrRVar &v : loops)
        names.push_back(v.name);
    Nest nest(stage(), call_text("reorder", names));
    StageSchedule &s = nest.schedule();
    std::vector<size_t> places;
    for (const VarOrRVar &v : loops) {
        places.push_back(nest.find(v));
        if (std::count(places.begin(), places.end(), places.back()) > 1)
            nest.fail(fmt::format("the loop '{}' is named twice. Name each once.", v.name));
    }
    std::vector<Dim> moved;
    for (size_t p : places)
        moved.push_back(s.dims[p]);
    std::sort(places.begin(), places.end());
    for (size_t i = 0; i < places.size(); i++)
        s.dims[places[i]] = moved[i];
    nest.done();
    return self();
}

template <typename Self>
Self &LoopDirectives<Self>::tile(const VarOrRVar &x, const VarOrRVar &y, const VarOrRVar &xo,
                                 const VarOrRVar &yo, const VarOrRVar &xi, const VarOrRVar &yi,
                                 const Expr &xfactor, const Expr &yfactor, TailStrategy tail) {
    return tile({x, y}, {xo, yo}, {xi, yi}, {xfactor, yfactor}, tail);
}

template <typename Self>
Self &LoopDirectives<Self>::tile(const VarOrRVar &x, const VarOrRVar &y, const VarOrRVar &xi,
                                 const VarOrRVar &yi, const Expr &xfactor, const Expr &yfactor,
                                 TailStrategy tail) {
    return tile({x, y}, {x, y}, {xi, yi}, {xfactor, yfactor}, tail);
}

template <typename Self>
Self &LoopDirectives<Self>::tile(const std::vector<VarOrRVar> &old,
                                 const std::vector<VarOrRVar> &outer,
                                 const std::vector<VarOrRVar> &inner,
                                 const std::vector<Expr> &factors, TailStrategy tail) {
    return tile(old, outer, inner, factors, std::vector<TailStrategy>(old.size(), tail));
}

template <typename Self>
Self &LoopDirectives<Self>::tile(const std::vector<VarOrRVar> &old,
                                 const std::vector<VarOrRVar> &inner,
                                 const std::vector<Expr> &factors, TailStrategy tail) {
    return tile(old, old, inner, factors, tail);
}

template <typename Self>
Self &
LoopDirectives<Self>::tile(const std::vector<VarOrRVar> &old, const std::vector<VarOrRVar> &outer,
                           const std::vector<VarOrRVar> &inner, const std::vector<Expr> &factors,
                           const std::vector<TailStrategy> &tails) {
    if (outer.size() != old.size() || inner.size() != old.size() || factors.size() != old.size() ||
        tails.size() != old.size())
        throw CompileError(fmt::format(
            "{}.tile{}: {} need the same number of outer and inner names, factors and tails, not "
            "{}, {}, {} and {}.",
            language::func_field(stage().contents()->name()),
            support::in_parentheses(stage().contents()->where),
            support::counted(old.size(), "loop"), outer.size(), inner.size(), factors.size(),
            tails.size()));
    StageSchedule &s = stage().schedule(), before = s;  // all or nothing
    try {
        for (size_t i = 0; i < old.size(); i++)
            split(old[i], outer[i], inner[i], factors[i], tails[i]);
        std::vector<VarOrRVar> order = inner;
        order.insert(order.end(), outer.begin(), outer.end());
        return reorder(order);
    } catch (const Error &) {
        s = before;
        throw;
    }
}

namespace {

/// The name of a directive that sets the kind of a loop, and the suffix of the inner loop of a
/// split.
struct Mark {
    LoopKind kind;
    const char *directive, *suffix;
};
constexpr Mark serial_loop{LoopKind::Serial, "serial", ""},
    parallel_loop{LoopKind::Parallel, "parallel", "_task"},
    vector_loop{LoopKind::Vectorized, "vectorize", "_lane"},
    unrolled_loop{LoopKind::Unrolled, "unroll", "_copy"};

void give_kind(const Stage &stage, const VarOrRVar &loop, const Mark &mark) {
    Nest nest(stage, call_text(mark.directive, {loop.name}));
    nest.schedule().dims[nest.find(loop)].kind = mark.kind;
    nest.done();
}

/// Splits by `factor` first.
void give_kind(Stage stage, const VarOrRVar &loop, const Expr &factor, TailStrategy tail,
               const Mark &mark) {
    Nest nest(stage, call_text(mark.directive, {loop.name, factor.defined() ? ir::shortened(factor)
                                                                            : "undefined"}));
    nest.find(loop);
    nest.check_factor(factor);
    std::string inner = loop.name + mark.suffix;
    for (int i = 1; nest.is_taken(inner); i++)
        inner = fmt::format("{}{}{}", loop.name, mark.suffix, i);
    stage.split(loop, loop, VarOrRVar(inner), factor, tail);
    give_kind(stage, mark.kind == LoopKind::Parallel ? loop : VarOrRVar(inner), mark);
}

}  // namespace

template <typename Self> Self &LoopDirectives<Self>::serial(const VarOrRVar &loop) {
    give_kind(stage(), loop, serial_loop);
    return self();
}
template <typename Self> Self &LoopDirectives<Self>::parallel(const VarOrRVar &loop) {
    give_kind(stage(), loop, parallel_loop);
    return self();
}
template <typename Self> Self &LoopDirectives<Self>::vectorize(const VarOrRVar &loop) {
    give_kind(stage(), loop, vector_loop);
    return self();
}
template <typename Self> Self &LoopDirectives<Self>::unroll(const VarOrRVar &loop) {
    give_kind(stage(), loop, unrolled_loop);
    return self();
}

template <typename Self>
Self &LoopDirectives<Self>::parallel(const VarOrRVar &loop, const Expr &task_size,
                                     TailStrategy tail) {
    give_kind(stage(), loop, task_size, tail, parallel_loop);
    return self();
}
template <typename Self>
Self &LoopDirectives<Self>::vectorize(const VarOrRVar &loop, const Expr &lanes, TailStrategy tail) {
    give_kind(stage(), loop, lanes, tail, vector_loop);
    return self();
}
template <typename Self>
Self &LoopDirectives<Self>::unroll(const VarOrRVar &loop, const Expr &times, TailStrategy tail) {
    give_kind(stage(), loop, times, tail, unrolled_loop);
    return self();
}

template <typename Self>
Self &LoopDirectives<Self>::compute_with(const Stage &other, const VarOrRVar &loop,
                                         const LoopAlignments &align) {
    Nest nest(stage(), call_text("compute_with", {other.name(), loop.name}));
    if (other.contents() == nest.stage().contents())
        nest.fail("a Func cannot share loops with itself. Name another Func that is computed at "
                  "the same level.");
    share_loops(nest,
                {schedules::LoopLevel::Kind::At, FuncId::None, other.index(), loop.name,
                 other.contents()->identity->number, other.contents()->name()},
                loop, align);
    return self();
}

template <typename Self>
Self &LoopDirectives<Self>::compute_with(const Stage &other, const VarOrRVar &loop,
                                         LoopAlignStrategy align) {
    return compute_with(other, loop, LoopAlignments{{loop, align}});
}

template <typename Self>
Self &LoopDirectives<Self>::compute_with(const Func &other, const VarOrRVar &loop,
                                         LoopAlignStrategy align) {
    return compute_with(Stage(other.contents(), 0), loop, align);
}

template <typename Self>
Self &LoopDirectives<Self>::compute_with(const Func &other, const VarOrRVar &loop,
                                         const LoopAlignments &align) {
    return compute_with(Stage(other.contents(), 0), loop, align);
}

template <typename Self>
Self &LoopDirectives<Self>::compute_with(const LoopLevel &level, const LoopAlignments &align) {
    Nest nest(stage(), call_text("compute_with", {level.to_string()}));
    if (!level.defined() || level.is_root() || level.is_inlined())
        nest.fail(fmt::format(
            "the level is {}, so it names no loop to share. Name one, as in LoopLevel(f, y).",
            level.to_string()));
    level.contents()->locked = true;  // a later set() would have no effect
    share_loops(nest, level.contents()->level, level.var(), align);
    return self();
}

template <typename Self>
Self &LoopDirectives<Self>::compute_with(const LoopLevel &level, LoopAlignStrategy align) {
    bool names_loop = level.defined() && !level.is_root() && !level.is_inlined();
    return compute_with(level,
                        names_loop ? LoopAlignments{{level.var(), align}} : LoopAlignments());
}

template class LoopDirectives<Stage>;
template class LoopDirectives<Func>;

}  // namespace Pipe
