// Directives on one definition of a Func.

#include <algorithm>

#include <fmt/format.h>

#include "graph/contents.h"
#include "graph/match.h"
#include "graph/nest.h"
#include "support/text.h"
#include <pipe/func.h>

namespace Pipe {

using graph::call_text;
using graph::FuncContents;
using graph::Nest;
using schedules::Dim;
using schedules::StageSchedule;
using schedules::Transform;

namespace {

/// What is moved, by the names of the loops, all of which have to be shared: outside of `innermost`.
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

/// Splitting a loop that already has a kind: tasks stay outside, lanes and copies inside.
void inherit_kind(const Dim &old, Dim &outer, Dim &inner) {
    bool inside = old.kind == LoopKind::Vectorized || old.kind == LoopKind::Unrolled;
    outer.kind = inside ? LoopKind::Serial : old.kind;
    inner.kind = inside ? old.kind : LoopKind::Serial;
}

}  // namespace

Stage::Stage(std::shared_ptr<FuncContents> func, int stage, std::vector<size_t> specialization)
    : func_(std::move(func)), stage_(stage), specialization_(std::move(specialization)) {}

std::string Stage::name() const {
    return stage_ == 0 ? func_->name() : fmt::format("{}.update({})", func_->name(), stage_ - 1);
}

std::vector<VarOrRVar> Stage::loops() const {
    std::vector<VarOrRVar> result;
    for (const Dim &d : schedule().dims) {
        result.emplace_back(d.name);
        result.back().is_rvar = d.is_reduction;
    }
    return result;
}

std::vector<VarOrRVar> Stage::split_vars() const {
    std::vector<VarOrRVar> result = loops();
    result.emplace_back(Var::outermost());
    return result;
}

std::vector<Var> Func::split_vars() const {
    std::vector<Var> result;
    for (const VarOrRVar &v : Stage(*this).split_vars())
        result.emplace_back(v.name);
    return result;
}

StageSchedule &Stage::schedule() const {
    if (!func_->defined())
        throw CompileError(
            fmt::format("{} is scheduled before it is defined. Write its definition before its "
                        "schedule.",
                        func_->description()));
    StageSchedule *s = &func_->schedule.stages[static_cast<size_t>(stage_)];
    for (size_t i : specialization_)
        s = &s->specializations[i].schedule;
    return *s;
}

Stage &Stage::split(const VarOrRVar &old, const VarOrRVar &outer, const VarOrRVar &inner,
                    const Expr &factor, TailStrategy tail) {
    StageSchedule &s = schedule();
    Nest nest(*func_, *this, s, call_text("split", {old.name, outer.name, inner.name}));
    size_t at = nest.find(old);
    nest.check_new(outer.name, old.name);
    nest.check_new(inner.name, old.name);
    if (outer.name == inner.name)
        nest.fail("the two new loops need different names. Name another Var for one of them.");
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
    return *this;
}

Stage &Stage::fuse(const VarOrRVar &inner, const VarOrRVar &outer, const VarOrRVar &fused) {
    StageSchedule &s = schedule();
    Nest nest(*func_, *this, s, call_text("fuse", {inner.name, outer.name, fused.name}));
    size_t in = nest.find(inner), out = nest.find(outer);
    if (in == out)
        nest.fail("a loop cannot be fused with itself. Name two loops.");
    if (fused.name != inner.name)
        nest.check_new(fused.name, outer.name);
    s.dims[out].name = fused.name;
    s.dims[out].is_reduction |= s.dims[in].is_reduction;
    s.dims.erase(s.dims.begin() + static_cast<long>(in));
    nest.done(
        {Transform::Kind::Fuse, fused.name, outer.name, inner.name, Expr(), TailStrategy::Auto});
    return *this;
}

Stage &Stage::rename(const VarOrRVar &old, const VarOrRVar &now) {
    StageSchedule &s = schedule();
    Nest nest(*func_, *this, s, call_text("rename", {old.name, now.name}));
    size_t at = nest.find(old);
    nest.check_new(now.name, old.name);
    s.dims[at].name = now.name;
    nest.done({Transform::Kind::Rename, old.name, now.name, "", Expr(), TailStrategy::Auto});
    return *this;
}

Stage &Stage::reorder(const std::vector<VarOrRVar> &loops) {
    StageSchedule &s = schedule();
    std::vector<std::string> names;
    for (const VarOrRVar &v : loops)
        names.push_back(v.name);
    Nest nest(*func_, *this, s, fmt::format("reorder({})", graph::join(names)));
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
    return *this;
}

Stage &Stage::tile(const VarOrRVar &x, const VarOrRVar &y, const VarOrRVar &xo, const VarOrRVar &yo,
                   const VarOrRVar &xi, const VarOrRVar &yi, const Expr &xfactor,
                   const Expr &yfactor, TailStrategy tail) {
    return tile({x, y}, {xo, yo}, {xi, yi}, {xfactor, yfactor}, tail);
}

Stage &Stage::tile(const VarOrRVar &x, const VarOrRVar &y, const VarOrRVar &xi, const VarOrRVar &yi,
                   const Expr &xfactor, const Expr &yfactor, TailStrategy tail) {
    return tile({x, y}, {x, y}, {xi, yi}, {xfactor, yfactor}, tail);
}

Stage &Stage::tile(const std::vector<VarOrRVar> &old, const std::vector<VarOrRVar> &outer,
                   const std::vector<VarOrRVar> &inner, const std::vector<Expr> &factors,
                   TailStrategy tail) {
    return tile(old, outer, inner, factors, std::vector<TailStrategy>(old.size(), tail));
}

Stage &Stage::tile(const std::vector<VarOrRVar> &old, const std::vector<VarOrRVar> &inner,
                   const std::vector<Expr> &factors, TailStrategy tail) {
    return tile(old, old, inner, factors, tail);
}

Stage &Stage::tile(const std::vector<VarOrRVar> &old, const std::vector<VarOrRVar> &outer,
                   const std::vector<VarOrRVar> &inner, const std::vector<Expr> &factors,
                   const std::vector<TailStrategy> &tails) {
    if (outer.size() != old.size() || inner.size() != old.size() || factors.size() != old.size() ||
        tails.size() != old.size())
        throw CompileError(fmt::format(
            "{}.tile ({}): {} need as many outer and inner names, factors and tails, not "
            "{}, {}, {} and {}.",
            graph::base_name(func_->name()), to_string(func_->where),
            support::counted(old.size(), "loop"), outer.size(), inner.size(), factors.size(),
            tails.size()));
    StageSchedule before = schedule();  // all or nothing
    try {
        for (size_t i = 0; i < old.size(); i++)
            split(old[i], outer[i], inner[i], factors[i], tails[i]);
        std::vector<VarOrRVar> order = inner;
        order.insert(order.end(), outer.begin(), outer.end());
        return reorder(order);
    } catch (const Error &) {
        schedule() = before;
        throw;
    }
}

Stage &Stage::mark(const VarOrRVar &loop, LoopKind kind, const char *directive) {
    StageSchedule &s = schedule();
    Nest nest(*func_, *this, s, call_text(directive, {loop.name}));
    s.dims[nest.find(loop)].kind = kind;
    nest.done();
    return *this;
}

Stage &Stage::mark(const VarOrRVar &loop, const Expr &factor, TailStrategy tail, LoopKind kind,
                   const char *directive, const char *suffix) {
    StageSchedule &s = schedule();
    Nest nest(*func_, *this, s,
              call_text(directive,
                        {loop.name, factor.defined() ? graph::shortened(factor) : "undefined"}));
    nest.find(loop);
    nest.check_factor(factor);
    std::string inner = loop.name + suffix;
    auto taken = [&](const std::string &n) {
        auto names = [&](const Transform &t) {
            return t.old_name == n || t.outer == n || t.inner == n;
        };
        return std::any_of(s.transforms.begin(), s.transforms.end(), names) ||
               std::any_of(s.dims.begin(), s.dims.end(),
                           [&](const Dim &d) { return d.name == n; }) ||
               std::count(func_->args.begin(), func_->args.end(), n) > 0;
    };
    for (int i = 1; taken(inner); i++)
        inner = fmt::format("{}{}{}", loop.name, suffix, i);
    split(loop, loop, VarOrRVar(inner), factor, tail);
    return mark(kind == LoopKind::Parallel ? loop : VarOrRVar(inner), kind, directive);
}

Stage &Stage::serial(const VarOrRVar &loop) {
    return mark(loop, LoopKind::Serial, "serial");
}
Stage &Stage::parallel(const VarOrRVar &loop) {
    return mark(loop, LoopKind::Parallel, "parallel");
}
Stage &Stage::vectorize(const VarOrRVar &loop) {
    return mark(loop, LoopKind::Vectorized, "vectorize");
}
Stage &Stage::unroll(const VarOrRVar &loop) {
    return mark(loop, LoopKind::Unrolled, "unroll");
}

Stage &Stage::parallel(const VarOrRVar &loop, const Expr &task_size, TailStrategy tail) {
    return mark(loop, task_size, tail, LoopKind::Parallel, "parallel", "_task");
}
Stage &Stage::vectorize(const VarOrRVar &loop, const Expr &lanes, TailStrategy tail) {
    return mark(loop, lanes, tail, LoopKind::Vectorized, "vectorize", "_lane");
}
Stage &Stage::unroll(const VarOrRVar &loop, const Expr &times, TailStrategy tail) {
    return mark(loop, times, tail, LoopKind::Unrolled, "unroll", "_copy");
}

Stage &Stage::compute_with(const Stage &other, const VarOrRVar &loop, const LoopAlignments &align) {
    StageSchedule &s = schedule();
    Nest nest(*func_, *this, s, call_text("compute_with", {other.name(), loop.name}));
    if (other.contents() == func_)
        nest.fail("a Func cannot share loops with itself. Name another Func that is computed at "
                  "the same level.");
    nest.find(loop);
    if (!specialization_.empty() || !s.specializations.empty())
        nest.fail(
            "a definition with specializations cannot share loops. Leave one of the two out.");
    s.fuse_level = {schedules::LoopLevel::Kind::At, FuncId::None, other.index(), loop.name,
                    other.contents()->identity,     nullptr};
    s.fuse_align = moved(nest, loop, align);
    nest.done();
    return *this;
}

Stage &Stage::compute_with(const Stage &other, const VarOrRVar &loop, LoopAlignStrategy align) {
    return compute_with(other, loop, LoopAlignments{{loop, align}});
}

Stage &Stage::compute_with(const Func &other, const VarOrRVar &loop, LoopAlignStrategy align) {
    return compute_with(Stage(other.contents(), 0), loop, align);
}

Stage &Stage::compute_with(const Func &other, const VarOrRVar &loop, const LoopAlignments &align) {
    return compute_with(Stage(other.contents(), 0), loop, align);
}

Stage &Stage::compute_with(const LoopLevel &level, const LoopAlignments &align) {
    StageSchedule &s = schedule();
    Nest nest(*func_, *this, s, call_text("compute_with", {level.to_string()}));
    if (!level.defined() || level.is_root() || level.is_inlined())
        nest.fail(fmt::format(
            "the level is {}, so it names no loop to share. Name one, as in LoopLevel(f, y).",
            level.to_string()));
    nest.find(level.var());
    if (!specialization_.empty() || !s.specializations.empty())
        nest.fail(
            "a definition with specializations cannot share loops. Leave one of the two out.");
    s.fuse_level = level.contents()->level;
    s.fuse_align = moved(nest, level.var(), align);
    nest.done();
    return *this;
}

Stage &Stage::compute_with(const LoopLevel &level, LoopAlignStrategy align) {
    bool names_loop = level.defined() && !level.is_root() && !level.is_inlined();
    return compute_with(level,
                        names_loop ? LoopAlignments{{level.var(), align}} : LoopAlignments());
}

}  // namespace Pipe
