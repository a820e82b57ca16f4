// Directives on a Func: where it is computed and stored, promises, and the pure definition's loops.

#include <algorithm>

#include <fmt/format.h>

#include "graph/contents.h"
#include "graph/match.h"
#include <pipe/func.h>

namespace Pipe {

using graph::FuncContents;
using schedule::LoopLevel;

namespace {

LoopLevel root() {
    return {LoopLevel::Kind::Root, FuncId::None, 0, "", nullptr};
}

/// Stage -1: whichever stage of the consumer has the loop; freeze finds out.
LoopLevel level(const std::shared_ptr<FuncContents> &consumer, int stage, const VarOrRVar &loop) {
    return {LoopLevel::Kind::At, FuncId::None, stage, loop.name, consumer->identity};
}

void set_level(FuncContents &f, LoopLevel &which, const LoopLevel &level) {
    which = level;
    f.schedule.touched = true;
    f.identity->touch();
}

void set_at(const std::shared_ptr<FuncContents> &f, LoopLevel &which, const char *directive,
            const std::shared_ptr<FuncContents> &consumer, int stage, const VarOrRVar &loop) {
    if (consumer == f)
        throw CompileError(
            fmt::format("{}.{}({}, {}): a Func cannot be computed or stored inside itself.",
                        f->name(), directive, consumer->name(), loop.name));
    set_level(*f, which, level(consumer, stage, loop));
}

void check_dimension(const FuncContents &f, const char *directive, const Var &dim) {
    if (!f.defined())
        throw CompileError(
            fmt::format("{}.{}({}): define the Func first.", f.name(), directive, dim.name()));
    if (std::count(f.args.begin(), f.args.end(), dim.name()) == 0)
        throw CompileError(fmt::format("{}.{}({}): {} has no dimension '{}'. Dimensions: {}.",
                                       f.name(), directive, dim.name(), f.description(), dim.name(),
                                       graph::join(f.args)));
}

Expr integer(const FuncContents &f, const char *directive, const Expr &e) {
    if (!e.defined() || !e.type().is_int_or_uint() || e.type().is_bool())
        throw CompileError(fmt::format("{}.{}: {} is no integer.", f.name(), directive,
                                       e.defined() ? graph::describe(e) : "an undefined Expr"));
    return cast(Int(32), e);
}

void set_bound(std::vector<schedule::Bound> &bounds, const Var &dim, const Expr &min,
               const Expr &extent) {
    auto same = [&](const schedule::Bound &b) { return b.var == dim.name(); };
    bounds.erase(std::remove_if(bounds.begin(), bounds.end(), same), bounds.end());
    bounds.push_back({dim.name(), min, extent});
}

void check_extent(const FuncContents &f, const char *directive, const Var &dim,
                  const Expr &extent) {
    int64_t value = 0;
    if (ir::as_const_int(extent, &value) && value < 0)
        throw CompileError(fmt::format("{}.{}({}): the extent {} is negative.", f.name(), directive,
                                       dim.name(), value));
}

}  // namespace

Func &Func::trace_loads() {
    contents_->schedule.trace.loads = true;
    contents_->identity->touch();
    return *this;
}

Func &Func::trace_stores() {
    contents_->schedule.trace.stores = true;
    contents_->identity->touch();
    return *this;
}

Func &Func::trace_realizations() {
    contents_->schedule.trace.realizations = true;
    contents_->identity->touch();
    return *this;
}

Func &Func::add_trace_tag(const std::string &tag) {
    contents_->schedule.trace.tags.push_back(tag);
    contents_->identity->touch();
    return *this;
}

Func &Func::compute_inline() {
    contents_->schedule.store = LoopLevel();
    set_level(*contents_, contents_->schedule.compute, LoopLevel());
    return *this;
}

Func &Func::compute_root() {
    set_level(*contents_, contents_->schedule.compute, root());
    return *this;
}

Func &Func::compute_at(const Func &consumer, const VarOrRVar &loop) {
    set_at(contents_, contents_->schedule.compute, "compute_at", consumer.contents_, -1, loop);
    return *this;
}

Func &Func::compute_at(const Stage &consumer, const VarOrRVar &loop) {
    set_at(contents_, contents_->schedule.compute, "compute_at", consumer.contents(),
           consumer.index(), loop);
    return *this;
}

Func &Func::store_root() {
    set_level(*contents_, contents_->schedule.store, root());
    return *this;
}

Func &Func::store_at(const Func &consumer, const VarOrRVar &loop) {
    set_at(contents_, contents_->schedule.store, "store_at", consumer.contents_, -1, loop);
    return *this;
}

Func &Func::store_at(const Stage &consumer, const VarOrRVar &loop) {
    set_at(contents_, contents_->schedule.store, "store_at", consumer.contents(), consumer.index(),
           loop);
    return *this;
}

Func &Func::store_in(MemoryType memory) {
    contents_->schedule.memory = memory;
    contents_->schedule.touched = true;
    contents_->identity->touch();
    return *this;
}

Func &Func::reorder_storage(const std::vector<Var> &dims) {
    std::vector<std::string> order;
    for (const Var &v : dims) {
        check_dimension(*contents_, "reorder_storage", v);
        if (std::count(order.begin(), order.end(), v.name()) > 0)
            throw CompileError(
                fmt::format("{}.reorder_storage: '{}' is named twice.", name(), v.name()));
        order.push_back(v.name());
    }
    for (const std::string &arg : contents_->args)
        if (std::count(order.begin(), order.end(), arg) == 0)
            order.push_back(arg);
    contents_->schedule.storage_order = order;
    contents_->schedule.touched = true;
    contents_->identity->touch();
    return *this;
}

Func &Func::fold_storage(const Var &dim, const Expr &extent, bool fold_forward) {
    check_dimension(*contents_, "fold_storage", dim);
    Expr factor = integer(*contents_, "fold_storage", extent);
    int64_t value = 0;
    if (ir::as_const_int(factor, &value) && value <= 0)
        throw CompileError(fmt::format("{}.fold_storage({}): the extent {} must be at least 1.",
                                       name(), dim.name(), value));
    contents_->schedule.folds.push_back({dim.name(), factor, fold_forward});
    contents_->schedule.touched = true;
    contents_->identity->touch();
    return *this;
}

Func &Func::bound(const Var &dim, const Expr &min, const Expr &extent) {
    check_dimension(*contents_, "bound", dim);
    check_extent(*contents_, "bound", dim, extent);
    set_bound(contents_->schedule.bounds, dim, integer(*contents_, "bound", min),
              integer(*contents_, "bound", extent));
    contents_->identity->touch();
    return *this;
}

Func &Func::bound_extent(const Var &dim, const Expr &extent) {
    check_dimension(*contents_, "bound_extent", dim);
    check_extent(*contents_, "bound_extent", dim, extent);
    set_bound(contents_->schedule.bounds, dim, Expr(), integer(*contents_, "bound_extent", extent));
    contents_->identity->touch();
    return *this;
}

Func &Func::set_estimate(const Var &dim, const Expr &min, const Expr &extent) {
    check_dimension(*contents_, "set_estimate", dim);
    check_extent(*contents_, "set_estimate", dim, extent);
    set_bound(contents_->schedule.estimates, dim, integer(*contents_, "set_estimate", min),
              integer(*contents_, "set_estimate", extent));
    contents_->identity->touch();
    return *this;
}

Func &Func::set_estimates(const Region &estimates) {
    if (estimates.size() != contents_->args.size())
        throw CompileError(
            fmt::format("{}.set_estimates: {} has {} dimensions ({}), but {} ranges are given.",
                        name(), contents_->description(), contents_->args.size(),
                        graph::join(contents_->args), estimates.size()));
    for (size_t i = 0; i < estimates.size(); i++)
        set_estimate(Var(contents_->args[i]), estimates[i].min, estimates[i].extent);
    return *this;
}

// The pure definition's loops.

Func &Func::split(const VarOrRVar &old, const VarOrRVar &outer, const VarOrRVar &inner,
                  const Expr &factor, TailStrategy tail) {
    Stage(*this).split(old, outer, inner, factor, tail);
    return *this;
}
Func &Func::fuse(const VarOrRVar &inner, const VarOrRVar &outer, const VarOrRVar &fused) {
    Stage(*this).fuse(inner, outer, fused);
    return *this;
}
Func &Func::rename(const VarOrRVar &old, const VarOrRVar &now) {
    Stage(*this).rename(old, now);
    return *this;
}
Func &Func::reorder(const std::vector<VarOrRVar> &loops) {
    Stage(*this).reorder(loops);
    return *this;
}
Func &Func::tile(const VarOrRVar &x, const VarOrRVar &y, const VarOrRVar &xo, const VarOrRVar &yo,
                 const VarOrRVar &xi, const VarOrRVar &yi, const Expr &xfactor, const Expr &yfactor,
                 TailStrategy tail) {
    Stage(*this).tile(x, y, xo, yo, xi, yi, xfactor, yfactor, tail);
    return *this;
}
Func &Func::tile(const VarOrRVar &x, const VarOrRVar &y, const VarOrRVar &xi, const VarOrRVar &yi,
                 const Expr &xfactor, const Expr &yfactor, TailStrategy tail) {
    Stage(*this).tile(x, y, xi, yi, xfactor, yfactor, tail);
    return *this;
}
Func &Func::tile(const std::vector<VarOrRVar> &old, const std::vector<VarOrRVar> &outer,
                 const std::vector<VarOrRVar> &inner, const std::vector<Expr> &factors,
                 TailStrategy tail) {
    Stage(*this).tile(old, outer, inner, factors, tail);
    return *this;
}
Func &Func::serial(const VarOrRVar &loop) {
    Stage(*this).serial(loop);
    return *this;
}
Func &Func::parallel(const VarOrRVar &loop) {
    Stage(*this).parallel(loop);
    return *this;
}
Func &Func::parallel(const VarOrRVar &loop, const Expr &task_size, TailStrategy tail) {
    Stage(*this).parallel(loop, task_size, tail);
    return *this;
}
Func &Func::vectorize(const VarOrRVar &loop) {
    Stage(*this).vectorize(loop);
    return *this;
}
Func &Func::vectorize(const VarOrRVar &loop, const Expr &lanes, TailStrategy tail) {
    Stage(*this).vectorize(loop, lanes, tail);
    return *this;
}
Func &Func::unroll(const VarOrRVar &loop) {
    Stage(*this).unroll(loop);
    return *this;
}
Func &Func::unroll(const VarOrRVar &loop, const Expr &times, TailStrategy tail) {
    Stage(*this).unroll(loop, times, tail);
    return *this;
}
Func &Func::compute_with(const Stage &other, const VarOrRVar &loop) {
    Stage(*this).compute_with(other, loop);
    return *this;
}
Func &Func::compute_with(const Func &other, const VarOrRVar &loop) {
    Stage(*this).compute_with(other, loop);
    return *this;
}
Stage Func::specialize(const Expr &condition) {
    return Stage(*this).specialize(condition);
}

}  // namespace Pipe
