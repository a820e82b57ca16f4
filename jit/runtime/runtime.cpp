#include "jit/runtime/runtime.h"

#include <cstdio>
#include <cstring>

#include <omp.h>

#include <fmt/format.h>

#include <pipe/extern.h>

#include "jit/runtime/gpu/calls.h"
#include "jit/runtime/gpu/emulator.h"
#include "jit/runtime/memo_cache.h"
#include "jit/runtime/parallel.h"
#include "jit/runtime/scratch.h"
#include "jit/runtime/tasks.h"
#include "support/error_text.h"
#include "support/processors.h"

namespace Pipe::runtime {

using support::Field;
using support::marked;

namespace {

void *scratch_push(Context *context, int64_t bytes) {
    if (context->failed())
        return nullptr;
    if (context->handlers.custom_malloc)
        return context->custom_allocate(bytes);
    return this_threads_arena().push(bytes, context->scratch_limit);
}

void scratch_pop(Context *context, void *block) {
    if (context->handlers.custom_malloc)
        return context->custom_release(block);
    this_threads_arena().pop(block);
}

void *user_context(Context *context) {
    return context->user;
}

ProfileSlot *profile_slot(Context *) {
    return &this_threads_slot();
}

ProfileEntry *profile_table(Context *context) {
    return context->profile;
}

void profile_allocated(ProfileEntry *entry, int64_t bytes) {
    entry->allocated(bytes);
}

void profile_freed(ProfileEntry *entry, int64_t bytes) {
    entry->freed(bytes);
}

int32_t out_of_memory_error(Context *context, const char *name, int64_t bytes) {
    std::string size = bytes == INT64_MAX ? "more than 2^63" : std::to_string(bytes);
    context->fail(out_of_memory,
                  fmt::format("out of memory: Func {}, {} bytes. Realize a smaller output, or "
                              "compute the Func within the loops of its consumer (compute_at).",
                              marked(Field::Func, name), marked(Field::Needed, size)));
    return out_of_memory;
}

std::string format_message(const char *text, const int64_t *values) {
    std::string message;
    for (; *text; text++) {
        switch (*text) {
        case SignedField:
            message += fmt::format("{}", *values++);
            break;
        case UnsignedField:
            message += fmt::format("{}", static_cast<uint64_t>(*values++));
            break;
        case FloatField: {
            double number = 0;
            std::memcpy(&number, values++, sizeof number);
            message += fmt::format("{:g}", number);
            break;
        }
        case TextField: {
            const char *inserted = nullptr;
            std::memcpy(&inserted, values++, sizeof inserted);
            message += inserted ? inserted : "(null)";
            break;
        }
        default:
            message += *text;
        }
    }
    return message;
}

/// One call per line, so that the lines of different threads do not mix.
void print_line(Context *context, const char *text, const int64_t *values) {
    print(context, (format_message(text, values) + "\n").c_str());
}

int32_t call_pipeline(Context *context, const detail::ExternPipeline *pipeline,
                      const void *const *args) {
    int32_t code = handler_failed;
    context->call([&] { code = pipeline->call(context->user, args); });
    return code;
}

int32_t fail(Context *context, int32_t code, const char *text, const int64_t *values) {
    context->fail(code, format_message(text, values));
    return code;
}

}  // namespace

void print(Context *context, const char *text) {
    if (!context->handlers.custom_print) {
        std::fputs(text, stdout);
        return;
    }
    context->call([&] { context->handlers.custom_print(context->user, text); });
}

const std::vector<RuntimeSymbol> &runtime_symbols() {
    static const std::vector<RuntimeSymbol> symbols = {
        {"pipe_parallel_for", reinterpret_cast<void *>(&parallel_for)},
        {"pipe_scratch_push", reinterpret_cast<void *>(&scratch_push)},
        {"pipe_scratch_pop", reinterpret_cast<void *>(&scratch_pop)},
        {"pipe_trace", reinterpret_cast<void *>(&trace)},
        {"pipe_user_context", reinterpret_cast<void *>(&user_context)},
        {"pipe_profile_slot", reinterpret_cast<void *>(&profile_slot)},
        {"pipe_profile_table", reinterpret_cast<void *>(&profile_table)},
        {"pipe_profile_allocated", reinterpret_cast<void *>(&profile_allocated)},
        {"pipe_profile_freed", reinterpret_cast<void *>(&profile_freed)},
        {"pipe_fork", reinterpret_cast<void *>(&fork_tasks)},
        {"pipe_semaphore_open", reinterpret_cast<void *>(&semaphore_open)},
        {"pipe_semaphore_close", reinterpret_cast<void *>(&semaphore_close)},
        {"pipe_semaphore_acquire", reinterpret_cast<void *>(&semaphore_acquire)},
        {"pipe_semaphore_release", reinterpret_cast<void *>(&semaphore_release)},
        {"pipe_lock_enter", reinterpret_cast<void *>(&lock_enter)},
        {"pipe_lock_leave", reinterpret_cast<void *>(&lock_leave)},
        {"pipe_memo_open", reinterpret_cast<void *>(&memo_open)},
        {"pipe_memo_store", reinterpret_cast<void *>(&memo_store)},
        {"pipe_memo_close", reinterpret_cast<void *>(&memo_close)},
        {"pipe_out_of_memory", reinterpret_cast<void *>(&out_of_memory_error)},
        {"pipe_call_pipeline", reinterpret_cast<void *>(&call_pipeline)},
        {"pipe_fail", reinterpret_cast<void *>(&fail)},
        {"pipe_print", reinterpret_cast<void *>(&print_line)},
        {"pipe_device_open", reinterpret_cast<void *>(&device_open)},
        {"pipe_device_close", reinterpret_cast<void *>(&device_close)},
        {"pipe_device_use", reinterpret_cast<void *>(&device_use)},
        {"pipe_host_use", reinterpret_cast<void *>(&host_use)},
        {"pipe_device_submit", reinterpret_cast<void *>(&device_submit)},
        {"pipe_launch", reinterpret_cast<void *>(&launch_kernel)},
        {"pipe_emulator_barrier", reinterpret_cast<void *>(&emulator_barrier)},
        {"pipe_emulator_access", reinterpret_cast<void *>(&emulator_access)},
    };
    return symbols;
}

int32_t run_on_threads(KernelFunction *kernel, Context &context, void *const *args,
                       int64_t *peak_bytes) {
    *peak_bytes = 0;
    ProfileScope profile(context.profile);
    return with_scratch(peak_bytes, [&] { return kernel(&context, args); });
}

int default_threads() {
    if (const int threads = support::thread_limit(); threads > 0)
        return threads;
    // By default, OpenMP uses all processors, ignoring the control group's quota.
    static const int all = omp_get_num_procs(), allowed = support::default_threads();
    const int threads = omp_get_max_threads();
    return threads == all ? allowed : threads;
}

}  // namespace Pipe::runtime
