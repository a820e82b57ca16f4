// Freeze, autoschedule, check.

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "autoschedule/autoschedule.h"
#include "driver/scheduled.h"
#include "graph/check.h"
#include "ir/program.h"
#include "ir/simplify.h"
#include "ir/substitute.h"
#include "jit/runtime/gpu/capability.h"
#include "predict/rates.h"
#include "support/clock.h"
#include "support/deep_stack.h"
#include "support/error.h"

namespace Pipe::driver {
namespace {

using autoschedule::Sizes;
using support::Clock;
using support::ms_since;

/// The values of Params and the sizes of images, by their names in expressions.
using Known = std::map<std::string, Expr>;

void take(int64_t &target, const Expr &e, const Known &known = {}) {
    if (e.defined())
        ir::as_const_int(ir::simplify(ir::substitute(known, e)), &target);
}

/// The shape of a buffer; unknown (extent 0) if there is none.
std::vector<Sizes::Dim> shape(const BufferBase *given, size_t dimensions) {
    std::vector<Sizes::Dim> dims(dimensions);
    if (!given || !given->defined())
        return dims;
    const BufferBase &buffer = *given;
    if (buffer.view().dims.size() != dimensions)
        return dims;
    for (size_t d = 0; d < dimensions; d++)
        dims[d] = {buffer.view().dims[d].min, buffer.view().dims[d].extent,
                   buffer.view().dims[d].stride};
    return dims;
}

std::vector<Sizes::Dim> output_sizes(const graph::FuncNode &f, const schedules::FuncSchedule &s,
                                     const BufferBase *buffer, const Known &known) {
    std::vector<Sizes::Dim> dims = shape(buffer, f.args.size());
    for (const auto *bounds : {&s.bounds, &s.estimates})
        for (const schedules::Bound &b : *bounds)
            for (size_t d = 0; d < dims.size(); d++)
                if (f.args[d] == b.var)
                    take(dims[d].min, b.min, known), take(dims[d].extent, b.extent, known);
    return dims;
}

std::vector<Sizes::Dim> image_sizes(const graph::Image &image, const language::ImageContents *param,
                                    const Known &known) {
    auto dims = shape(param ? &param->buffer : &image.bound, static_cast<size_t>(image.dimensions));
    for (size_t d = 0; d < dims.size(); d++) {
        const graph::ShapePromise &c = image.promise.dims[d];
        take(dims[d].min, c.min, known), take(dims[d].extent, c.extent, known);
        take(dims[d].min, c.estimate_min, known), take(dims[d].extent, c.estimate_extent, known);
    }
    return dims;
}

void know(Known &known, const std::string &image, const std::vector<Sizes::Dim> &dims) {
    for (size_t d = 0; d < dims.size(); d++) {
        if (dims[d].extent <= 0)
            continue;
        known[ir::min_name(image, d)] = ir::make_const(Int(32), dims[d].min);
        known[ir::extent_name(image, d)] = ir::make_const(Int(32), dims[d].extent);
    }
}

std::optional<int64_t> value_of(const language::ParamContents &param) {
    if (!param.is_set.load(std::memory_order_relaxed) && !param.estimate.defined())
        return std::nullopt;
    int unused = 64 - param.type.bits();
    uint64_t bits = param.bits.load(std::memory_order_relaxed) << unused;
    int64_t value = param.type.is_int() ? static_cast<int64_t>(bits) >> unused
                                        : static_cast<int64_t>(bits >> unused);
    take(value, param.estimate);
    return value;
}

/// Estimates for images may depend on Params, those for outputs on both.
Sizes sizes_of(const language::Frozen &frozen, const Outputs *buffers) {
    Sizes sizes;
    Known known;
    for (size_t i = 0; i < frozen.scalars.size(); i++) {
        const graph::Scalar &scalar = frozen.graph.scalars[i];
        if (!scalar.type.is_int_or_uint())
            continue;
        if (std::optional<int64_t> value = value_of(*frozen.scalars[i])) {
            sizes.scalars[scalar.name] = *value;
            known[scalar.name] = ir::make_const(scalar.type, *value);
        }
    }
    for (size_t i = 0; i < frozen.images.size(); i++) {
        const graph::Image &image = frozen.graph.images[i];
        sizes.images[image.name] = image_sizes(image, frozen.images[i].get(), known);
        know(known, image.name, sizes.images[image.name]);
    }
    size_t buffer = 0;
    for (FuncId id : frozen.graph.outputs) {
        const graph::FuncNode &f = frozen.graph[id];
        bool given = buffers && buffer < buffers->size();
        sizes.outputs.push_back(
            output_sizes(f, frozen.schedule[id], given ? (*buffers)[buffer] : nullptr, known));
        for (size_t i = 0; i < f.types.size(); i++)  // definitions may use them
            sizes.images[graph::buffer_name(f, i)] = sizes.outputs.back();
        buffer += f.types.size();
    }
    return sizes;
}

/// The machine at hand, with the rate of its memory where the user gave none. It is rounded, so that another measurement
/// gives the same schedule as a rule, and down, because what reads more than it writes is slower than a copy.
autoschedule::Machine machine_of(const Target &target, AutoscheduleOptions options) {
    const autoschedule::Machine machine = autoschedule::host_machine(target, options);
    if (machine.gpu || options.memory_rate > 0)
        return machine;
    const double rate = predict::rates_of_machine().copies;
    options.memory_rate = std::exp2(std::floor(2 * std::log2(rate)) / 2);
    return autoschedule::host_machine(target, options);
}

/// The autoscheduler's result must be as legal as a user's.
void autoschedule_or_fall_back(Scheduled &s, const Settings &settings, const Outputs *buffers) {
    s.options = *settings.autoschedule;
    s.report.machine = machine_of(runtime::with_capability_of_gpu(settings.target), s.options);
    s.sizes = sizes_of(s.frozen, buffers);
    s.user = {s.frozen.graph, s.frozen.schedule};
    try {
        support::SuppressErrorReporting suppressed;
        auto result = autoschedule::schedule(s.user->graph, s.user->schedule, s.sizes,
                                             s.report.machine, s.options);
        s.report = std::move(result.report);
        take_schedule(s, std::move(result.graph), std::move(result.schedule));
    } catch (const std::exception &error) {
        fall_back(s, error.what());
    }
}

}  // namespace

void take_schedule(Scheduled &s, graph::Graph graph, schedules::Schedule schedule) {
    graph::Graph inlined = graph::inline_funcs(graph, schedule);
    graph::check(inlined, schedule);
    poly::RaceOptions races;
    races.fast_math = s.fast_math;
    s.shared_loops = poly::check_races(inlined, schedule, races);
    s.inlined = std::move(inlined);
    s.frozen.graph = std::move(graph);
    s.frozen.schedule = std::move(schedule);
}

bool has_directives(const schedules::Schedule &schedule) {
    return std::any_of(schedule.funcs.begin(), schedule.funcs.end(), [](const auto &f) {
        return f.touched || std::any_of(f.stages.begin(), f.stages.end(),
                                        [](const auto &stage) { return stage.touched; });
    });
}

namespace {

/// The target features that request traces of everything.
void trace_all(language::Frozen &frozen, const Target &target) {
    for (schedules::FuncSchedule &f : frozen.schedule.funcs) {
        f.trace.loads |= target.has_feature(Target::TraceLoads);
        f.trace.stores |= target.has_feature(Target::TraceStores);
        f.trace.realizations |= target.has_feature(Target::TraceRealizations);
    }
    for (graph::Image &image : frozen.graph.images)
        image.trace_loads |= target.has_feature(Target::TraceLoads);
}

void freeze_and_schedule(Scheduled &s, const std::vector<Func> &outputs, const Settings &settings,
                         const Outputs *buffers) {
    auto start = Clock::now();
    bool host = settings.target.arch == Target::ArchUnknown;
    Target target = host ? get_host_target() : settings.target;
    s.frozen = language::freeze(outputs, target, settings.requirements, settings.extern_names);
    trace_all(s.frozen, target);
#ifndef NDEBUG
    graph::verify(s.frozen.graph);
#endif
    s.freeze_ms = ms_since(start);
    start = Clock::now();
    if (settings.autoschedule) {
        autoschedule_or_fall_back(s, settings, buffers);
        s.schedule_ms = ms_since(start);
    } else {
        s.unscheduled = !has_directives(s.frozen.schedule);
        take_schedule(s, graph::Graph(s.frozen.graph), schedules::Schedule(s.frozen.schedule));
        s.freeze_ms += ms_since(start);
    }
}

}  // namespace

std::vector<autoschedule::Alternative> alternatives(const language::Frozen &frozen,
                                                    const Settings &settings,
                                                    const Outputs &buffers, size_t count) {
    const auto machine = machine_of(settings.target, *settings.autoschedule);
    return autoschedule::alternatives(frozen.graph, frozen.schedule, sizes_of(frozen, &buffers),
                                      machine, *settings.autoschedule, count, true);
}

Scheduled make_schedule(const std::vector<Func> &outputs, const Settings &settings,
                        const Outputs *buffers) {
    Scheduled s;
    s.fast_math = settings.target.has_feature(Target::FastMath);
    support::on_deep_stack([&] { freeze_and_schedule(s, outputs, settings, buffers); });
    return s;
}

}  // namespace Pipe::driver
