#include "jit/runtime/run_kernel.h"

#include <algorithm>
#include <cstdio>
#include <optional>

#include "jit/runtime/gpu/calls.h"
#include "jit/runtime/gpu/devices.h"
#include "jit/runtime/profiler.h"
#include "jit/runtime/runtime.h"

namespace Pipe::runtime {

void print(const RunOptions &options, const std::string &text) {
    if (options.handlers.custom_print)
        options.handlers.custom_print(options.context, text.c_str());
    else
        std::fputs(text.c_str(), stdout);
}

void put_before(const JITHandlers &first, JITHandlers *handlers) {
    auto take = [](auto &to, auto from) {
        if (from)
            to = from;
    };
    take(handlers->custom_print, first.custom_print);
    if (first.custom_malloc || first.custom_free) {
        handlers->custom_malloc = first.custom_malloc;
        handlers->custom_free = first.custom_free;
    }
    take(handlers->custom_do_task, first.custom_do_task);
    take(handlers->custom_do_par_for, first.custom_do_par_for);
    take(handlers->custom_error, first.custom_error);
    take(handlers->custom_trace, first.custom_trace);
}

namespace {

/// The kernel itself, and what its device has to do after it. Failures are in the context.
int32_t run_on_device(KernelFunction *function, Context &context, void *const *args, int64_t *peak,
                      const Target &target, Profile *profile) {
    std::vector<KernelTime> times;
    GPURun gpu(device_finder(target), context.user, profile ? &times : nullptr);
    context.gpu = &gpu;
    const int32_t code = run_on_threads(function, context, args, peak);
    if (code == 0 && !context.failed())
        call_device(&context, [](GPURun &run) { run.finish(); });
    context.gpu = nullptr;
    if (profile)
        profile->add(times);
    return code;
}

}  // namespace

int run_kernel(const KernelCode &kernel, const RunOptions &options, void *const *args,
               std::string *error, RunStats *stats) {
    JITUserContext none;
    Context context(options.handlers, options.context ? options.context : &none);
    context.threads =
        options.threads > 0 ? std::min(options.threads, most_threads) : default_threads();
    context.scratch_limit = options.scratch_limit;
    context.memo_owner = options.memo_owner;
    int64_t peak = 0;
    std::optional<ProfiledRun> profiled;
    if (!kernel.profiled.empty())
        context.profile = profiled.emplace(kernel.profiled.size()).table();
    int32_t code = kernel.target.has_cuda()
                       ? run_on_device(kernel.function, context, args, &peak, kernel.target,
                                       profiled ? options.profile : nullptr)
                       : run_on_threads(kernel.function, context, args, &peak);
    if (profiled)
        profiled->stop();
    if (profiled && options.profile)
        options.profile->add(*profiled, kernel.profiled);
    if (stats)
        stats->peak_scratch_bytes = peak;
    context.rethrow();
    if (context.failed())
        code = context.code();
    if (code != 0 && error)
        *error = context.message();
    return code;
}

}  // namespace Pipe::runtime
