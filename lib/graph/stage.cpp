// Directives on one definition of a Func.

#include <algorithm>

#include <fmt/format.h>

#include "graph/contents.h"
#include "graph/match.h"
#include <pipe/func.h>

namespace Pipe {

using graph::FuncContents;
using schedule::Dim;
using schedule::StageSchedule;
using schedule::Transform;

namespace {

/// The nest of one stage under change, and what to say where a directive does not fit it.
class Nest {
  public:
    Nest(const FuncContents &func, const Stage &stage, StageSchedule &schedule,
         std::string directive)
        : func_(func), stage_(stage), schedule_(schedule), directive_(std::move(directive)) {}

    [[noreturn]] void fail(const std::string &why) const {
        std::string place = to_string(func_.where);
        throw CompileError(fmt::format("{}.{}{}: {}", stage_.name(), directive_,
                                       place.empty() ? "" : fmt::format(" ({})", place), why));
    }

    size_t find(const VarOrRVar &loop) const {
        const auto &dims = schedule_.dims;
        auto found = std::find_if(dims.begin(), dims.end(),
                                  [&](const Dim &d) { return d.name == loop.name; });
        if (found == dims.end())
            fail_missing(loop.name);
        return static_cast<size_t>(found - dims.begin());
    }

    /// CompileError where a new loop's name is in use, or was and would be ambiguous.
    void check_new(const std::string &name, const std::string &replaced) const {
        if (name.empty())
            fail("a loop needs a name.");
        if (name == replaced)
            return;
        bool taken = std::count(func_.args.begin(), func_.args.end(), name) > 0;
        for (const Dim &d : schedule_.dims)
            taken |= d.name == name;
        for (const Transform &t : schedule_.transforms)
            taken |= t.old_name == name || t.outer == name || t.inner == name;
        if (taken)
            fail(fmt::format("the name '{}' is taken by another loop. Loops: {}.", name, loops()));
    }

    Expr check_factor(const Expr &factor) const {
        if (!factor.defined())
            fail("the factor is an undefined Expr.");
        Type type = factor.type();
        if (!type.is_int_or_uint() || type.is_bool())
            fail(fmt::format("the factor is {}, but must be an integer.", graph::describe(factor)));
        int64_t value = 0;
        if (ir::as_const_int(factor, &value) && (value <= 0 || value > INT32_MAX))
            fail(fmt::format("the factor is {}, but must be at least 1.", value));
        return cast(Int(32), factor);
    }

    /// An iteration that is done twice, or beyond the range, is harmless in a pure definition only.
    void check_tail(const Dim &loop, TailStrategy tail) const {
        bool again =
            tail == TailStrategy::ShiftInwards || tail == TailStrategy::ShiftInwardsAndBlend;
        bool beyond = tail == TailStrategy::RoundUp || tail == TailStrategy::RoundUpAndBlend;
        if (again && stage_.index() > 0)
            fail(fmt::format(
                "ShiftInwards computes iterations of '{}' twice, which changes what an update "
                "gives. Use GuardWithIf or RoundUp.",
                loop.name));
        if (beyond && loop.is_reduction)
            fail(fmt::format(
                "RoundUp goes beyond the range of the RVar '{}', which changes what the update "
                "gives. Use GuardWithIf.",
                loop.name));
    }

    std::string loops() const {
        std::vector<std::string> names;
        for (const Dim &d : schedule_.dims)
            names.push_back(d.name);
        return names.empty() ? "none" : graph::join(names) + " (innermost first)";
    }

    std::vector<Dim> &dims() { return schedule_.dims; }

    void done(Transform transform) {
        schedule_.transforms.push_back(std::move(transform));
        done();
    }
    void done() {
        schedule_.touched = true;
        func_.identity->touch();
    }

  private:
    const FuncContents &func_;
    const Stage &stage_;
    StageSchedule &schedule_;
    std::string directive_;

    [[noreturn]] void fail_missing(const std::string &name) const {
        for (const Transform &t : schedule_.transforms)
            if (t.old_name == name && t.kind == Transform::Kind::Split)
                fail(fmt::format("there is no loop '{}' any more: it was split into '{}' and '{}'. "
                                 "Loops: {}.",
                                 name, t.outer, t.inner, loops()));
        fail(fmt::format("there is no loop '{}'. Loops: {}.", name, loops()));
    }
};

/// Splitting a loop that already has a kind: tasks stay outside, lanes and copies inside.
void inherit_kind(const Dim &old, Dim &outer, Dim &inner) {
    bool inside = old.kind == LoopKind::Vectorized || old.kind == LoopKind::Unrolled;
    outer.kind = inside ? LoopKind::Serial : old.kind;
    inner.kind = inside ? old.kind : LoopKind::Serial;
}

std::string call_text(const char *directive, std::initializer_list<std::string> names) {
    return fmt::format("{}({})", directive, graph::join(names));
}

}  // namespace

Stage::Stage(std::shared_ptr<FuncContents> func, int stage, int specialization)
    : func_(std::move(func)), stage_(stage), specialization_(specialization) {}

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

StageSchedule &Stage::schedule() const {
    if (!func_->defined())
        throw CompileError(
            fmt::format("Func '{}' is scheduled before it is defined.", func_->name()));
    auto &all = func_->schedule;
    auto index = static_cast<size_t>(stage_);
    return specialization_ < 0
               ? all.stages[index]
               : all.specializations[static_cast<size_t>(specialization_)].stages[index];
}

Stage &Stage::split(const VarOrRVar &old, const VarOrRVar &outer, const VarOrRVar &inner,
                    const Expr &factor, TailStrategy tail) {
    StageSchedule &s = schedule();
    Nest nest(*func_, *this, s, call_text("split", {old.name, outer.name, inner.name}));
    size_t at = nest.find(old);
    nest.check_new(outer.name, old.name);
    nest.check_new(inner.name, old.name);
    if (outer.name == inner.name)
        nest.fail("the two new loops need different names.");
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
        nest.fail("a loop cannot be fused with itself.");
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
            nest.fail(fmt::format("the loop '{}' is named twice.", v.name));
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
    if (outer.size() != old.size() || inner.size() != old.size() || factors.size() != old.size())
        throw CompileError(
            fmt::format("{}.tile: {} loops need as many outer and inner names and factors.", name(),
                        old.size()));
    StageSchedule before = schedule();  // all or nothing
    try {
        for (size_t i = 0; i < old.size(); i++)
            split(old[i], outer[i], inner[i], factors[i], tail);
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

Stage &Stage::compute_with(const Stage &other, const VarOrRVar &loop) {
    StageSchedule &s = schedule();
    Nest nest(*func_, *this, s, call_text("compute_with", {other.name(), loop.name}));
    if (other.contents() == func_)
        nest.fail("a Func cannot share loops with itself.");
    nest.find(loop);
    s.fuse_level = {schedule::LoopLevel::Kind::At, FuncId::None, other.index(), loop.name,
                    other.contents()->identity};
    nest.done();
    return *this;
}

Stage &Stage::compute_with(const Func &other, const VarOrRVar &loop) {
    return compute_with(Stage(other.contents(), 0), loop);
}

Stage Stage::specialize(const Expr &condition) {
    StageSchedule &s = schedule();
    Nest nest(*func_, *this, s, "specialize");
    if (specialization_ >= 0)
        nest.fail("a specialization cannot be specialized again.");
    if (!condition.defined() || !condition.type().is_bool())
        nest.fail(
            fmt::format("the condition must be a bool of Params and sizes, not {}.",
                        condition.defined() ? graph::describe(condition) : "an undefined Expr"));
    auto &all = func_->schedule;
    all.specializations.push_back({condition, all.stages});
    nest.done();
    return Stage(func_, stage_, static_cast<int>(all.specializations.size()) - 1);
}

}  // namespace Pipe
