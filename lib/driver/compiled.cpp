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
                   const Target &requested, const Realization *buffers)
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

const jit::Kernel &Compiled::kernel(const Variant &variant) {
    std::lock_guard lock(mutex_);
    auto found = kernels_.find(variant);
    if (found != kernels_.end())
        return found->second;

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

    const jit::Kernel &kept = kernels_.emplace(variant, std::move(kernel)).first->second;
    if (variant == Variant{})
        usual_.store(&kept, std::memory_order_release);
    return kept;
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

int Compiled::run_kernel(const jit::Kernel &kernel, const CallArguments &call, std::string *error) {
    jit::RunStats stats;
    int code = kernel.run({}, call.data(), error, &stats);
    peak_scratch_.store(stats.peak_scratch_bytes, std::memory_order_relaxed);
    return code;
}

void Compiled::run(const Realization &outputs) {
    thread_local CallArguments call;
    slots_.fill(outputs, call);
    std::string error;
    const jit::Kernel *usual =
        call.strided() == 0 ? usual_.load(std::memory_order_acquire) : nullptr;
    int code = run_kernel(usual ? *usual : kernel({call.strided(), false}), call, &error);
    auto failure = static_cast<ir::Failure>(code);
    if (failure == ir::Failure::InputTooSmall || failure == ir::Failure::OutputTooSmall)
        code = run_kernel(kernel({call.strided(), true}), call, &error);
    if (code != 0)
        throw RuntimeError(error);
}

CompileTimes Compiled::times() const {
    std::lock_guard lock(mutex_);
    return times_;
}

}  // namespace Pipe::driver
