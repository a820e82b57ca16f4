#include "driver/compiled.h"

#include <chrono>

#include "lower/lower.h"

namespace Pipe::driver {

namespace {

using Clock = std::chrono::steady_clock;

double ms_since(Clock::time_point start) {
    return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

Target resolve(const Target &requested, const Settings &settings) {
    if (requested.arch != Target::Arch::Unknown)
        return requested;
    return settings.target.arch != Target::Arch::Unknown ? settings.target : get_host_target();
}

}  // namespace

Compiled::Compiled(const std::vector<Func> &outputs, const Settings &settings,
                   const Target &requested, const Outputs *buffers)
    : requested_(requested), target_(resolve(requested, settings)),
      epoch_(graph::modification_epoch()),
      scheduled_(make_schedule(outputs, {target_, settings.autoschedule}, buffers)),
      slots_(scheduled_.inlined) {
    times_.schedule_ms = scheduled_.schedule_ms;
}

bool Compiled::up_to_date(const Target &requested) const {
    if (!(requested == requested_) && !(requested == target_))
        return false;
    uint64_t now = graph::modification_epoch();
    if (epoch_.load(std::memory_order_acquire) == now)
        return true;
    // Something changed somewhere: was it one of ours?
    for (const graph::Stamp &stamp : scheduled_.frozen.stamps)
        if (!stamp.up_to_date())
            return false;
    epoch_.store(now, std::memory_order_release);
    return true;
}

const jit::Kernel *Compiled::find(const Variant &variant) const {
    const Made *made = newest_.load(std::memory_order_acquire);
    while (made && !(made->variant == variant))
        made = made->next.get();
    return made ? &made->kernel : nullptr;
}

const jit::Kernel &Compiled::kernel(const Variant &variant) {
    if (const jit::Kernel *found = find(variant))
        return *found;
    std::lock_guard lock(mutex_);
    if (const jit::Kernel *found = find(variant))  // another thread was faster
        return *found;

    auto start = Clock::now();
    ir::Program program;
    try {
        program = lower(variant);
    } catch (const Error &error) {
        if (!fall_back(scheduled_, error.what()))
            throw;
        program = lower(variant);
    }
    slots_.check_program(program);
    times_.lower_ms = scheduled_.freeze_ms + ms_since(start);

    start = Clock::now();
    jit::Kernel kernel = jit::compile(program, target_);
    times_.llvm_ms = ms_since(start);

    made_ = std::make_unique<Made>(variant, std::move(kernel), std::move(made_));
    newest_.store(made_.get(), std::memory_order_release);
    return made_->kernel;
}

ir::Program Compiled::lower(const Variant &variant) {
    lower::LowerOptions options;
    options.name = scheduled_.inlined[scheduled_.inlined.outputs[0]].name;
    options.dense = slots_.dense(variant.strided);
    options.any_size = variant.any_size;
    return lower::lower(scheduled_.inlined, scheduled_.frozen.schedule, target_, options);
}

Scheduled Compiled::scheduled() const {
    std::lock_guard lock(mutex_);
    return scheduled_;
}

void Compiled::compile() {
    kernel({});
}

int Compiled::run_kernel(const jit::Kernel &kernel, const CallArguments &call,
                         const jit::RunOptions &options, std::string *error) {
    jit::RunStats stats;
    int code = kernel.run(options, call.data(), error, &stats);
    peak_scratch_.store(stats.peak_scratch_bytes, std::memory_order_relaxed);
    return code;
}

int Compiled::run_kernels(CallArguments &call, const jit::RunOptions &options, std::string *error) {
    slots_.fill(call);
    int code = run_kernel(kernel({call.strided(), false}), call, options, error);
    auto failure = static_cast<ir::Failure>(code);
    if (failure == ir::Failure::InputTooSmall || failure == ir::Failure::OutputTooSmall)
        code = run_kernel(kernel({call.strided(), true}), call, options, error);
    return code;
}

namespace {

/// Calls f(options, &error) for a code; what fails is thrown, or the custom_error handler is told.
template <typename F>
int with_handlers(JITUserContext *context, const JITHandlers &handlers, const F &f) {
    JITUserContext none;
    jit::RunOptions options;
    options.context = context ? context : &none;
    options.threads = options.context->num_threads;
    options.handlers = handlers;
    jit::put_before(options.context->handlers, &options.handlers);
    std::string error;
    int code = 0;
    try {
        code = f(options, &error);
    } catch (const RuntimeError &e) {
        if (!options.handlers.custom_error)
            throw;
        code = static_cast<int>(ir::Failure::BadArgument), error = e.what();
    }
    if (code != 0 && !options.handlers.custom_error)
        throw RuntimeError(error);
    if (code != 0)
        options.handlers.custom_error(options.context, error.c_str());
    return code;
}

}  // namespace

int Compiled::run(CallArguments &call, JITUserContext *context, const JITHandlers &handlers) {
    return with_handlers(context, handlers, [&](const jit::RunOptions &options, std::string *e) {
        return run_kernels(call, options, e);
    });
}

int Compiled::run(Outputs outputs, JITUserContext *context, const JITHandlers &handlers) {
    BorrowedArguments call;
    return with_handlers(context, handlers, [&](const jit::RunOptions &options, std::string *e) {
        slots_.gather(outputs, call->given);
        return run_kernels(*call, options, e);
    });
}

CompileTimes Compiled::times() const {
    std::lock_guard lock(mutex_);
    return times_;
}

}  // namespace Pipe::driver
