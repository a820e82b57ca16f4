// Directives on a Func: compute and store levels, promises, and the pure definition's loops.

#include <algorithm>

#include <fmt/format.h>

#include "ir/equal.h"
#include "ir/print.h"
#include "language/collect.h"
#include "language/contents.h"
#include "language/match.h"
#include "schedule/print.h"
#include "support/error_text.h"
#include "support/text.h"
#include <pipe/func.h>

namespace Pipe {

using language::FuncContents;

namespace {

using Level = schedules::LoopLevel;

Level root() {
    return {Level::Kind::Root};
}

/// Stage -1: whichever stage of the consumer has the loop; resolved by freeze.
Level level_of(const std::shared_ptr<FuncContents> &consumer, int stage, const VarOrRVar &loop) {
    return {Level::Kind::At, FuncId::None,           stage,
            loop.name,       consumer->identity->number, consumer->identity->name};
}

/// One of a Func's levels.
struct Place {
    Level schedules::FuncSchedule::*level;
    std::shared_ptr<LoopLevel::Contents> language::ScheduleObjects::*object;
};
constexpr Place compute{&schedules::FuncSchedule::compute, &language::ScheduleObjects::compute};
constexpr Place store{&schedules::FuncSchedule::store, &language::ScheduleObjects::store};
constexpr Place hoist{&schedules::FuncSchedule::hoist, &language::ScheduleObjects::hoist};

[[noreturn]] void reject(const FuncContents &f, const std::string &directive,
                         const std::string &why) {
    throw CompileError(fmt::format("{}.{}{}: {}", language::func_field(f.name()), directive,
                                   support::in_parentheses(f.where), why));
}

void set_level(FuncContents &f, const Place &place, const Level &level,
               const std::shared_ptr<LoopLevel::Contents> &object = nullptr) {
    f.schedule.*place.level = level;
    f.schedule_objects.*place.object = object;
    f.schedule.touched = true;
    f.identity->touch();
}

void set_at(const std::shared_ptr<FuncContents> &f, const Place &place, const char *directive,
            const std::shared_ptr<FuncContents> &consumer, int stage, const VarOrRVar &loop) {
    if (consumer == f)
        reject(*f, fmt::format("{}({}, {})", directive, f->name(), loop.name),
               "a Func cannot be computed or stored inside itself. Name a loop of a Func that uses "
               "it.");
    set_level(*f, place, level_of(consumer, stage, loop));
}

void check_dimension(const FuncContents &f, const char *directive, const Var &dim) {
    if (!f.defined())
        reject(f, fmt::format("{}({})", directive, dim.name()),
               "define the Func first, as in f(x, y) = x + y.");
    if (std::count(f.args.begin(), f.args.end(), dim.name()) == 0)
        reject(f, fmt::format("{}({})", directive, dim.name()),
               fmt::format("the Func has no dimension '{}'. Name one of its dimensions: {}.",
                           dim.name(), f.arg_names()));
}

Expr integer(const FuncContents &f, const char *directive, const Expr &e) {
    std::string why;
    Expr number = language::directive_number(e, &why);
    if (!number.defined())
        reject(f, directive, "it was given " + why);
    if (!language::is_uniform(e))
        reject(f, directive,
               fmt::format("{} depends on coordinates. Use a number, a Param or the "
                           "size of an image.",
                           language::describe(e)));
    return number;
}

/// Null if there is no entry for the dimension.
schedules::Bound *bound_of(std::vector<schedules::Bound> &bounds, const Var &dim) {
    auto same = [&](const schedules::Bound &b) { return b.var == dim.name(); };
    auto found = std::find_if(bounds.begin(), bounds.end(), same);
    return found == bounds.end() ? nullptr : &*found;
}

std::string range_text(const schedules::Bound &b) {
    return b.min.defined()
               ? fmt::format("min {}, extent {}", ir::shortened(b.min), ir::shortened(b.extent))
               : fmt::format("extent {}", ir::shortened(b.extent));
}

/// A second range would silently override the first one.
void add_bound(FuncContents &f, const char *directive, const Var &dim, const Expr &min,
               const Expr &extent) {
    std::vector<schedules::Bound> &bounds = f.schedule.bounds;
    const schedules::Bound now{dim.name(), min, extent};
    const schedules::Bound *before = bound_of(bounds, dim);
    if (!before) {
        bounds.push_back(now);
        return;
    }
    auto same = [](const Expr &a, const Expr &b) {
        return a.defined() == b.defined() && (!a.defined() || ir::equal(a, b));
    };
    if (!same(before->min, min) || !same(before->extent, extent))
        reject(
            f, fmt::format("{}({})", directive, dim.name()),
            fmt::format("{} is already bounded to a different range: {}; now {}. Leave one of the "
                        "two out.",
                        dim.name(), range_text(*before), range_text(now)));
}

void check_extent(const FuncContents &f, const char *directive, const Var &dim,
                  const Expr &extent) {
    int64_t value = 0;
    if (ir::as_const_int(extent, &value) && value < 0)
        reject(f, fmt::format("{}({})", directive, dim.name()),
               fmt::format("the extent {} is negative. Give a min and an extent, not two ends.",
                           value));
}

/// An integer of at least 1.
Expr positive(const FuncContents &f, const char *directive, const char *what, const Expr &e) {
    Expr result = integer(f, directive, e);
    int64_t value = 0;
    if (ir::as_const_int(result, &value) && value < 1)
        reject(f, directive, fmt::format("the {} is {}, but must be at least 1.", what, value));
    return result;
}

void touch(FuncContents &f) {
    f.schedule.touched = true;
    f.identity->touch();
}

/// The entry of a dimension in the list; added if there is none.
template <typename T> T &entry(std::vector<T> &list, const std::string &var) {
    auto found = std::find_if(list.begin(), list.end(), [&](const T &t) { return t.var == var; });
    if (found != list.end())
        return *found;
    list.emplace_back();
    list.back().var = var;
    return list.back();
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

Func &Func::no_profiling() {
    contents_->schedule.no_profiling = true;
    contents_->identity->touch();
    return *this;
}

Func &Func::compute_inline() {
    if (is_extern())
        throw CompileError(fmt::format("{}.compute_inline(){}: the C function '{}' computes it, so "
                                       "it cannot be inlined. Use "
                                       "compute_root() or compute_at().",
                                       language::func_field(name()), language::at(contents_->where),
                                       extern_function_name()));
    for (const Place &place : {compute, store, hoist})
        set_level(*contents_, place, Level());
    return *this;
}

Func &Func::compute_at(const LoopLevel &level) {
    set_level(*contents_, compute, Level(), level.contents());
    return *this;
}

Func &Func::store_at(const LoopLevel &level) {
    set_level(*contents_, store, Level(), level.contents());
    return *this;
}

Func &Func::hoist_storage(const LoopLevel &level) {
    set_level(*contents_, hoist, Level(), level.contents());
    return *this;
}

Func &Func::hoist_storage(const Func &consumer, const VarOrRVar &loop) {
    set_at(contents_, hoist, "hoist_storage", consumer.contents_, -1, loop);
    return *this;
}

Func &Func::hoist_storage(const Stage &consumer, const VarOrRVar &loop) {
    set_at(contents_, hoist, "hoist_storage", consumer.contents(),
           consumer.index(), loop);
    return *this;
}

Func &Func::hoist_storage_root() {
    set_level(*contents_, hoist, root());
    return *this;
}

Func &Func::ring_buffer(const Expr &extent) {
    Expr copies = positive(*contents_, "ring_buffer", "extent", extent);
    if (!ir::is_const_int(copies))
        reject(*contents_, fmt::format("ring_buffer({})", ir::shortened(extent)),
               "the extent must be a constant, because it is the number of copies to allocate.");
    contents_->schedule.ring_buffer = copies;
    touch(*contents_);
    return *this;
}

Func &Func::async() {
    contents_->schedule.async = true;
    touch(*contents_);
    return *this;
}

Func &Func::unroll_updates() {
    contents_->schedule.unroll_updates = true;
    contents_->identity->touch();
    return *this;
}

Func &Func::store_nontemporal() {
    contents_->schedule.nontemporal_stores = true;
    contents_->identity->touch();
    return *this;
}

Func &Func::load_nontemporal() {
    contents_->schedule.nontemporal_loads = true;
    contents_->identity->touch();
    return *this;
}

Func &Func::copy_to_device(DeviceAPI api) {
    if (api != DeviceAPI::Default_GPU && api != DeviceAPI::CUDA)
        reject(*contents_, "copy_to_device",
               fmt::format(
                   "kernels are made for DeviceAPI::CUDA, not for {}. Leave the DeviceAPI out.",
                   schedules::to_string(api)));
    contents_->schedule.copied_to = schedules::CopiedTo::Device;
    contents_->identity->touch();
    return *this;
}

Func &Func::copy_to_host() {
    contents_->schedule.copied_to = schedules::CopiedTo::Host;
    contents_->identity->touch();
    return *this;
}

Func &Func::align_storage(const Var &dim, const Expr &alignment) {
    check_dimension(*contents_, "align_storage", dim);
    entry(contents_->schedule.storage_dims, dim.name()).alignment =
        positive(*contents_, "align_storage", "alignment", alignment);
    touch(*contents_);
    return *this;
}

Func &Func::bound_storage(const Var &dim, const Expr &extent) {
    check_dimension(*contents_, "bound_storage", dim);
    entry(contents_->schedule.storage_dims, dim.name()).bound =
        positive(*contents_, "bound_storage", "extent", extent);
    touch(*contents_);
    return *this;
}

namespace {

[[noreturn]] void reject_both(const FuncContents &f, const char *now, const Var &dim,
                              const char *before) {
    reject(f, fmt::format("{}({})", now, dim.name()),
           fmt::format("{} was already given for '{}', and the two could contradict each other. "
                       "Use align_bounds alone: its extent is a multiple of the modulus too.",
                       before, dim.name()));
}

}  // namespace

Func &Func::align_bounds(const Var &dim, const Expr &modulus, const Expr &remainder) {
    check_dimension(*contents_, "align_bounds", dim);
    auto &alignment = entry(contents_->schedule.alignments, dim.name());
    if (alignment.modulus.defined() && !alignment.remainder.defined())
        reject_both(*contents_, "align_bounds", dim, "align_extent");
    const Expr multiple = positive(*contents_, "align_bounds", "modulus", modulus),
               rest = integer(*contents_, "align_bounds", remainder);
    alignment.modulus = multiple, alignment.remainder = rest;
    contents_->identity->touch();
    return *this;
}

Func &Func::align_extent(const Var &dim, const Expr &modulus) {
    check_dimension(*contents_, "align_extent", dim);
    auto &alignment = entry(contents_->schedule.alignments, dim.name());
    if (alignment.remainder.defined())
        reject_both(*contents_, "align_extent", dim, "align_bounds");
    alignment.modulus = positive(*contents_, "align_extent", "modulus", modulus);
    contents_->identity->touch();
    return *this;
}

Func &Func::compute_root() {
    set_level(*contents_, compute, root());
    return *this;
}

Func &Func::compute_at(const Func &consumer, const VarOrRVar &loop) {
    set_at(contents_, compute, "compute_at", consumer.contents_, -1, loop);
    return *this;
}

Func &Func::compute_at(const Stage &consumer, const VarOrRVar &loop) {
    set_at(contents_, compute, "compute_at", consumer.contents(),
           consumer.index(), loop);
    return *this;
}

Func &Func::store_root() {
    set_level(*contents_, store, root());
    return *this;
}

Func &Func::store_at(const Func &consumer, const VarOrRVar &loop) {
    set_at(contents_, store, "store_at", consumer.contents_, -1, loop);
    return *this;
}

Func &Func::store_at(const Stage &consumer, const VarOrRVar &loop) {
    set_at(contents_, store, "store_at", consumer.contents(), consumer.index(),
           loop);
    return *this;
}

Func &Func::store_in(MemoryType memory) {
    if (memory > MemoryType::GPUTexture)
        reject(
            *contents_, fmt::format("store_in(MemoryType::{})", schedules::to_string(memory)),
            "this kind of memory is not supported. Use Auto, Heap, Stack, Register or, in kernels, "
            "GPUShared.");
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
            reject(*contents_, "reorder_storage",
                   fmt::format("'{}' is named twice. Name each dimension once.", v.name()));
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
        reject(*contents_, fmt::format("fold_storage({})", dim.name()),
               fmt::format("the extent {} must be at least 1.", value));
    entry(contents_->schedule.folds, dim.name()) = {dim.name(), factor, fold_forward};
    contents_->schedule.touched = true;
    contents_->identity->touch();
    return *this;
}

Func &Func::bound(const Var &dim, const Expr &min, const Expr &extent) {
    check_dimension(*contents_, "bound", dim);
    check_extent(*contents_, "bound", dim, extent);
    add_bound(*contents_, "bound", dim, integer(*contents_, "bound", min),
              integer(*contents_, "bound", extent));
    contents_->identity->touch();
    return *this;
}

Func &Func::bound_extent(const Var &dim, const Expr &extent) {
    check_dimension(*contents_, "bound_extent", dim);
    check_extent(*contents_, "bound_extent", dim, extent);
    add_bound(*contents_, "bound_extent", dim, Expr(), integer(*contents_, "bound_extent", extent));
    contents_->identity->touch();
    return *this;
}

Func &Func::set_estimate(const Var &dim, const Expr &min, const Expr &extent) {
    check_dimension(*contents_, "set_estimate", dim);
    check_extent(*contents_, "set_estimate", dim, extent);
    const schedules::Bound estimate{dim.name(), integer(*contents_, "set_estimate", min),
                                    integer(*contents_, "set_estimate", extent)};
    std::vector<schedules::Bound> &estimates = contents_->schedule.estimates;
    if (schedules::Bound *before = bound_of(estimates, dim))
        *before = estimate;
    else
        estimates.push_back(estimate);
    contents_->identity->touch();
    return *this;
}

Func &Func::set_estimates(const Region &estimates) {
    if (estimates.size() != contents_->args.size())
        reject(*contents_, "set_estimates",
               fmt::format("the Func has {} ({}), but {} given. Give one Range per dimension.",
                           support::counted(contents_->args.size(), "dimension"),
                           contents_->arg_names(),
                           estimates.size() == 1 ? "1 range is"
                                                 : fmt::format("{} ranges are", estimates.size())));
    for (size_t i = 0; i < estimates.size(); i++)
        set_estimate(Var(contents_->args[i]), estimates[i].min, estimates[i].extent);
    return *this;
}

}  // namespace Pipe
