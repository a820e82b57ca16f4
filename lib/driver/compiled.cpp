#include "driver/compiled.h"

#include <fstream>
#include <utility>

#include <fmt/format.h>

#include "graph/check_device.h"
#include "ir/print.h"
#include "jit/runtime/abi.h"
#include "jit/runtime/gpu/capability.h"
#include "lower/in_place.h"
#include "lower/lower.h"
#include "support/clock.h"
#include "support/deep_stack.h"
#include "support/env.h"
#include "support/error.h"

namespace Pipe::driver {

namespace {

using support::Clock;
using support::ms_since;

Target resolve(const Target &requested, const Settings &settings) {
    if (requested.arch != Target::ArchUnknown)
        return runtime::with_capability_of_gpu(requested);
    Target target =
        settings.target.arch != Target::ArchUnknown ? settings.target : get_host_target();
    target.features |= requested.features;  // Target().with_feature(Target::Profile)
    return runtime::with_capability_of_gpu(target);
}

uint64_t new_memo_owner() {
    static std::atomic<uint64_t> last{0};
    return ++last;
}

}  // namespace

Compiled::Compiled(const std::vector<Func> &outputs, const Settings &settings,
                   const Target &requested, const Outputs *buffers)
    : requested_(requested), target_(resolve(requested, settings)), memo_owner_(new_memo_owner()),
      trace_pipeline_(settings.trace_pipeline), epoch_(language::modification_epoch()),
      scheduled_(make_schedule(
          outputs,
          {target_, settings.autoschedule, false, settings.requirements, settings.extern_names},
          buffers)),
      slots_(scheduled_.frozen), declared_in_place_(slots_.declared_in_place()) {
    graph::check_device(scheduled_.inlined, scheduled_.frozen.schedule, target_);
    times_.schedule_ms = scheduled_.schedule_ms;
    times_.lower_ms = scheduled_.freeze_ms;
    for (const std::string &pass : lower::pass_names())
        times_.pass_ms.emplace_back(pass, 0);
    check_declared();
}

std::string Compiled::in_place_obstacle(const ir::InPlace &pair) const {
    std::string why;
    support::on_deep_stack([&] {
        why = lower::in_place_obstacle(scheduled_.inlined, scheduled_.frozen.schedule, pair);
    });
    return why;
}

void Compiled::check_declared() {
    for (const ir::InPlace &pair : slots_.names(declared_in_place_)) {
        std::string why = in_place_obstacle(pair);
        while (!why.empty() && can_fall_back(scheduled_)) {
            fall_back(scheduled_, why);
            why = in_place_obstacle(pair);
        }
        if (!why.empty())
            throw CompileError(
                fmt::format("{}: output_buffer().may_alias: the output '{}' cannot share the "
                            "memory of '{}'. {}",
                            slots_.pipeline(), pair.output, pair.input, why));
    }
}

void Compiled::check_in_place(const CallArguments &call) {
    std::lock_guard lock(mutex_);
    const std::vector<ir::InPlace> pairs = slots_.names(call.in_place());
    for (size_t i = 0; i < pairs.size(); i++)
        if (std::string why = in_place_obstacle(pairs[i]); !why.empty())
            slots_.reject_in_place(call, call.in_place()[i], why);
}

bool Compiled::up_to_date(const Target &requested) const {
    const bool any = requested == Target();
    if (!any && !(requested == requested_) && !(requested == target_))
        return false;
    uint64_t now = language::modification_epoch();
    if (epoch_.load(std::memory_order_acquire) == now)
        return true;
    // The global epoch has changed: check whether this pipeline is affected.
    for (const language::Stamp &stamp : scheduled_.frozen.stamps)
        if (!stamp.up_to_date())
            return false;
    epoch_.store(now, std::memory_order_release);
    return true;
}

const jit::Kernel *Compiled::find(const Variant &variant) const {
    const CachedKernel *made = newest_.load(std::memory_order_acquire);
    while (made && !(made->variant == variant))
        made = made->next.get();
    return made ? &made->kernel : nullptr;
}

const jit::Kernel &Compiled::kernel(const Variant &variant) {
    if (const jit::Kernel *found = find(variant))
        return *found;
    std::lock_guard lock(mutex_);
    if (const jit::Kernel *found = find(variant))  // another thread compiled it meanwhile
        return *found;

    jit::Kernel kernel;
    support::on_deep_stack([&] { kernel = compile_kernel(variant); });
    made_ = std::make_unique<CachedKernel>(variant, std::move(kernel), std::move(made_));
    newest_.store(made_.get(), std::memory_order_release);
    return made_->kernel;
}

jit::Kernel Compiled::compile_kernel(const Variant &variant) {
    ir::Program program = lower_or_fall_back(variant);
    slots_.check_program(program);
    const auto start = Clock::now();
    jit::Kernel kernel = jit::compile(
        program, variant.large_buffers ? target_.with_feature(Target::LargeBuffers) : target_);
    times_.llvm_ms += ms_since(start);
    return kernel;
}

namespace {

/// PIPE_DUMP names a directory for the graph, the regions, and the loops after each pass.
void dump_passes(const graph::Graph &graph, lower::LowerOptions &options) {
    std::string folder = support::dump_folder();
    if (folder.empty())
        return;
    static std::atomic<int> count{0};
    std::string start = fmt::format("{}/{}.{}.", folder, count++, options.name);
    auto number = std::make_shared<int>(0);
    auto write = [start, number](const std::string &step, const std::string &text) {
        std::ofstream(fmt::format("{}{:02}.{}.txt", start, (*number)++, step)) << text;
    };
    write("graph", graph::to_string(graph));
    options.after_plan = [write](const std::string &plan) { write("regions", plan); };
    options.after_pass = [write](const std::string &pass, const ir::Stmt &s) {
        write(pass, ir::to_string(s));
    };
}

}  // namespace

ir::Program Compiled::lower(const Variant &variant) {
    lower::LowerOptions options;
    options.name = name();
    options.strides = slots_.strides(variant.layouts);
    options.any_size = variant.any_size;
    options.in_place = slots_.names(variant.in_place);
    options.shared_loops = scheduled_.shared_loops;
    options.trace_pipeline = trace_pipeline_ || target_.has_feature(Target::TracePipeline);
    options.timed = [this](const std::string &pass, double ms) {
        for (auto &[name, sum] : times_.pass_ms)
            sum += name == pass ? ms : 0;
    };
    dump_passes(scheduled_.inlined, options);
    const auto start = Clock::now();
    ir::Program program =
        lower::lower(scheduled_.inlined, scheduled_.frozen.schedule, target_, options);
    times_.lower_ms += ms_since(start);
    return program;
}

ir::Program Compiled::lower_or_fall_back(const Variant &variant) {
    ir::Program program = try_to_lower(variant);
    if (!scheduled_.fallback_warning.empty())
        support::warn(std::exchange(scheduled_.fallback_warning, ""));
    return program;
}

ir::Program Compiled::try_to_lower(const Variant &variant) {
    if (!can_fall_back(scheduled_))
        return lower(variant);
    while (can_fall_back(scheduled_)) {
        try {
            support::SuppressErrorReporting suppressed;
            return lower(variant);
        } catch (const Error &error) {
            fall_back(scheduled_, error.what());
            query_ = {};  // its shape query must match the new schedule
        }
    }
    for (const ir::InPlace &pair : slots_.names(variant.in_place))
        if (std::string why = in_place_obstacle(pair); !why.empty())
            throw RuntimeError(slots_.pipeline() + ": " + why);
    return lower(variant);
}

ir::Program Compiled::program() {
    std::lock_guard lock(mutex_);
    ir::Program program;
    support::on_deep_stack([&] {
        program = lower_or_fall_back({slots_.dense_layouts(), {}, false});
    });
    return program;
}

Scheduled Compiled::scheduled() const {
    std::lock_guard lock(mutex_);
    return scheduled_;
}

void Compiled::compile() {
    kernel({slots_.dense_layouts(), {}, false});
    if (!declared_in_place_.empty())
        kernel({slots_.dense_layouts(), declared_in_place_, false});
}

namespace {

/// Minimum duration that a user notices. (Faster runs do not need a schedule, or are tests.)
void hint_at_schedule(const std::string &pipeline, double ms) {
    constexpr double noticeable_ms = 50;
    if (ms < noticeable_ms)
        return;
    support::hint(fmt::format(
        "{} has no schedule: it ran for {:.0f} ms on one thread, recomputing each Func wherever "
        "it is used. Call autoschedule() on a Pipeline of it before it is realized, or give its "
        "Funcs directives such as parallel, vectorize and compute_root. (To turn hints off: "
        "set_hints(false), or the environment variable PIPE_HINTS=0.)",
        pipeline, ms));
}

}  // namespace

int Compiled::run_kernel(const jit::Kernel &kernel, const CallArguments &call,
                         const runtime::RunOptions &options, std::string *error) {
    runtime::RunStats stats;
    const auto start = scheduled_.unscheduled ? Clock::now() : Clock::time_point();
    int code = kernel.run(options, call.data(), error, &stats);
    if (scheduled_.unscheduled && code == 0)
        hint_at_schedule(slots_.pipeline(), ms_since(start));
    if (code != 0)
        *error = slots_.pipeline() + ": " + *error;
    peak_scratch_.store(stats.peak_scratch_bytes, std::memory_order_relaxed);
    return code;
}

int Compiled::run_kernels(CallArguments &call, const runtime::RunOptions &options,
                          std::vector<Buffer<void>> *grown, std::string *error) {
    slots_.fill(call, target_.has_cuda());
    if (call.nothing_wanted())
        return 0;
    Variant &variant = call.variant;
    if (!call.in_place().empty() && !find(variant))
        check_in_place(call);
    int code = run_kernel(kernel(variant), call, options, error);
    if (code == runtime::indices_too_narrow &&
        call.in_place().empty()) {  // of an intermediate Func
        variant.large_buffers = true;
        code = run_kernel(kernel(variant), call, options, error);
    }
    auto failure = static_cast<ir::Failure>(code);
    variant.any_size = true;
    if (failure == ir::Failure::InputTooSmall || failure == ir::Failure::OutputTooSmall)
        code = run_kernel(kernel(variant), call, options, error);
    if (static_cast<ir::Failure>(code) == ir::Failure::OutputTooSmall && grown &&
        grow_outputs(call.given, options, *grown))
        return run_kernels(call, options, nullptr, error);
    return code;
}

namespace {

/// Calls f(options, &error) for an error code; a failure is thrown, or reported to the custom_error
/// handler.
template <typename F> int with_handlers(const CallSettings &settings, const F &f) {
    JITUserContext none;
    runtime::RunOptions options;
    options.context = settings.context ? settings.context : &none;
    options.threads = options.context->num_threads;
    options.handlers = settings.handlers;
    runtime::put_before(options.context->handlers, &options.handlers);
    std::string error;
    int code = 0;
    try {
        const JITHandlers &h = options.handlers;
        if ((h.custom_malloc == nullptr) != (h.custom_free == nullptr))
            throw RuntimeError("JITHandlers: of custom_malloc and custom_free only one is set, so "
                               "that memory would be freed by a different allocator. Set both.");
        code = f(options, &error);
    } catch (const RuntimeError &e) {
        if (!options.handlers.custom_error)
            throw;
        code = static_cast<int>(ir::Failure::BadArgument), error = e.what();
    }
    if (code != 0 && !options.handlers.custom_error)
        throw RuntimeError(error);
    if (code != 0)
        options.handlers.custom_error(options.context, RuntimeError(error).what());
    return code;
}

}  // namespace

int Compiled::run(CallArguments &call, const CallSettings &settings) {
    return with_handlers(settings, [&](runtime::RunOptions &options, std::string *error) {
        options.memo_owner = memo_owner_;
        if (!target_.has_feature(Target::Profile))
            return run_kernels(call, options, settings.grown, error);
        runtime::Profile profile;
        options.profile = &profile;
        int code = run_kernels(call, options, settings.grown, error);
        settings.profile.add(profile);
        runtime::print(options, profile.text(name()));
        return code;
    });
}

int Compiled::run(Outputs outputs, const CallSettings &settings) {
    BorrowedArguments call;
    int code = with_handlers(settings, [&](runtime::RunOptions &, std::string *) {
        slots_.gather(outputs, call->given);
        return 0;
    });
    return code != 0 ? code : run(*call, settings);
}

int Compiled::fail(const std::string &why, const CallSettings &settings) {
    return with_handlers(
        settings, [&](runtime::RunOptions &, std::string *) -> int { throw RuntimeError(why); });
}

int Compiled::answer_query(const std::vector<ArgumentValue> &given, const CallSettings &settings) {
    return with_handlers(settings, [&](runtime::RunOptions &options, std::string *) {
        give_shapes(given, options);
        return 0;
    });
}

int Compiled::infer_inputs(Outputs outputs, const CallSettings &settings) {
    return with_handlers(settings, [&](runtime::RunOptions &options, std::string *) {
        make_inputs(outputs, options);
        return 0;
    });
}

const std::string &Compiled::name() const {
    return scheduled_.inlined[scheduled_.inlined.outputs[0]].name;
}

CompileTimes Compiled::times() const {
    std::lock_guard lock(mutex_);
    return times_;
}

}  // namespace Pipe::driver
