#include "jit/runtime.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <utility>

#include <omp.h>

#include <fmt/format.h>

#include <pipe/extern.h>

#include "jit/memo_cache.h"
#include "jit/scratch.h"
#include "jit/tasks.h"

namespace Pipe::jit {

namespace {

/// The iterations of a parallel loop, handed out in ranges: large ones first, single ones at the
/// end, so that little is handed out often and all threads end at about the same time.
class Iterations {
  public:
    Iterations(int32_t min, int32_t extent, int threads)
        : next_(min), end_(static_cast<int64_t>(min) + extent), threads_(threads) {}

    bool take(int64_t *begin, int64_t *end) {
        *begin = next_.load(std::memory_order_relaxed);
        do {
            if (*begin >= end_)
                return false;
            *end = *begin + std::max<int64_t>(1, (end_ - *begin) / (4 * threads_));
        } while (!next_.compare_exchange_weak(*begin, *end, std::memory_order_relaxed));
        return true;
    }
    void stop() { next_.store(end_, std::memory_order_relaxed); }
    bool all_taken() const { return next_.load(std::memory_order_relaxed) >= end_; }

  private:
    std::atomic<int64_t> next_;
    int64_t end_;
    int threads_;
};

/// A parallel loop while it runs.
struct Loop {
    Context *context;
    codegen::RangeBody *body;
    void *closure;
    std::atomic<int32_t> code{0};  ///< of the first failure
    std::atomic<int64_t> peak{0};  ///< scratch, over all threads

    void fail(int32_t failure) {
        int32_t none = 0;
        if (failure != 0)
            code.compare_exchange_strong(none, failure);
    }
    /// Calls f on this thread, which works on the loop meanwhile.
    template <typename F> int32_t with_thread(F &&f) {
        ProfileScope profile(context->profile);
        int64_t my_peak = 0;
        int32_t result = with_scratch(&my_peak, f);
        peak.fetch_add(my_peak, std::memory_order_relaxed);
        fail(result);
        return result;
    }
};

/// What handlers get as JITTask, with a Loop as closure.
int one_iteration(JITUserContext *, int index, uint8_t *closure) {
    Loop &loop = *reinterpret_cast<Loop *>(closure);
    if (loop.context->failed())
        return handler_failed;
    return loop.with_thread(
        [&] { return loop.body(loop.context, index, index + 1, loop.closure); });
}

/// The range of the loop, each iteration by custom_do_task.
int32_t run_tasks(Loop &loop, int64_t begin, int64_t end) {
    Context &context = *loop.context;
    int32_t code = 0;
    for (int64_t i = begin; i < end && code == 0; i++) {
        bool good = context.call([&] {
            code = context.handlers.custom_do_task(context.user, one_iteration, static_cast<int>(i),
                                                   reinterpret_cast<uint8_t *>(&loop));
        });
        if (!good || (code != 0 && !context.failed() && loop.code == 0)) {
            context.fail(handler_failed, fmt::format("custom_do_task answered {}.", code));
            code = handler_failed;
        }
    }
    return loop.code != 0 ? loop.code.load() : code;
}

int32_t run_range(Loop &loop, int64_t begin, int64_t end) {
    if (loop.context->handlers.custom_do_task)
        return run_tasks(loop, begin, end);
    return loop.body(loop.context, static_cast<int32_t>(begin), static_cast<int32_t>(end),
                     loop.closure);
}

/// Those of the innermost loop that is shared and that this thread works on; null outside of all.
thread_local const Iterations *current_iterations = nullptr;

/// One thread's share of a parallel loop.
int32_t work(Loop &loop, Iterations &iterations) {
    int64_t begin = 0, end = 0;
    int32_t code = 0;
    const Iterations *outer = std::exchange(current_iterations, &iterations);
    while (code == 0 && iterations.take(&begin, &end))
        code = run_range(loop, begin, end);
    current_iterations = outer;
    if (code != 0)
        iterations.stop();
    return code;
}

/// The whole loop by custom_do_par_for.
int32_t run_custom(Loop &loop, int32_t min, int32_t extent) {
    Context &context = *loop.context;
    int answer = 0;
    context.call([&] {
        answer = context.handlers.custom_do_par_for(context.user, one_iteration, min, extent,
                                                    reinterpret_cast<uint8_t *>(&loop));
    });
    if (loop.code != 0)
        return loop.code;
    if (answer != 0)
        context.fail(handler_failed, fmt::format("custom_do_par_for answered {}.", answer));
    return context.failed() ? handler_failed : 0;
}

// ThreadSanitizer does not see what OpenMP's own waits put in order: it is told.
#ifdef __SANITIZE_THREAD__
extern "C" void __tsan_acquire(void *);
extern "C" void __tsan_release(void *);
#define PIPE_UNSEEN_BY_TSAN __attribute__((no_sanitize("thread")))
#else
inline void __tsan_acquire(void *) {}
inline void __tsan_release(void *) {}
#define PIPE_UNSEEN_BY_TSAN
#endif

void share(Loop &loop, Iterations &iterations) {
    __tsan_acquire(&iterations);
    loop.with_thread([&] { return work(loop, iterations); });
    __tsan_release(&iterations);
}

PIPE_UNSEEN_BY_TSAN void fork_and_join(Loop &loop, Iterations &iterations, int threads) {
#pragma omp parallel num_threads(threads)
    share(loop, iterations);
}

void help(Loop &loop, Iterations &iterations) {
    __tsan_acquire(&iterations);
    if (!iterations.all_taken())
        share(loop, iterations);
    __tsan_release(&iterations);
}

/// Within a parallel loop: threads that wait for its end help.
PIPE_UNSEEN_BY_TSAN void share_with_waiting(Loop &loop, Iterations &iterations, int helpers) {
    for (int i = 0; i < helpers; i++) {
#pragma omp task default(none) shared(loop, iterations)
        help(loop, iterations);
    }
    share(loop, iterations);
#pragma omp taskwait
}

void run_on_openmp(Loop &loop, int32_t min, int32_t extent) {
    int threads = loop.context->threads;
    Iterations iterations(min, extent, threads);
    __tsan_release(&iterations);
    if (current_iterations)
        share_with_waiting(loop, iterations, std::min(threads, extent) - 1);
    else
        fork_and_join(loop, iterations, threads);
    __tsan_acquire(&iterations);
}

/// A loop inside of another is shared once that has no iteration left to take: a thread may come to wait
/// for its end while this one still works.
bool is_shared(const Context &context, int32_t extent) {
    if (context.threads <= 1 || extent == 1)
        return false;
    return current_iterations ? omp_in_parallel() && current_iterations->all_taken()
                              : !inside_parallel_loop();
}

int32_t parallel_for(Context *context, codegen::RangeBody *body, int32_t min, int32_t extent,
                     void *closure) {
    if (extent <= 0)
        return 0;
    if (context->failed())
        return handler_failed;
    Loop loop{context, body, closure};
    if (context->handlers.custom_do_par_for) {
        loop.fail(run_custom(loop, min, extent));
    } else if (is_shared(*context, extent)) {
        run_on_openmp(loop, min, extent);
    } else {
        return run_range(loop, min, int64_t{min} + extent);
    }
    Arena &arena = this_threads_arena();
    arena.reset_peak(std::max(arena.peak(), arena.used() + loop.peak.load()));
    return loop.code;
}

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
                              name, size));
    return out_of_memory;
}

std::string format_message(const char *text, const int64_t *values) {
    std::string message;
    for (; *text; text++) {
        switch (*text) {
        case codegen::SignedField:
            message += fmt::format("{}", *values++);
            break;
        case codegen::UnsignedField:
            message += fmt::format("{}", static_cast<uint64_t>(*values++));
            break;
        case codegen::FloatField: {
            double number = 0;
            std::memcpy(&number, values++, sizeof number);
            message += fmt::format("{:g}", number);
            break;
        }
        case codegen::TextField: {
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

/// One call per line, so that lines of different threads do not mix.
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
    };
    return symbols;
}

int32_t run_kernel(codegen::KernelFunction *kernel, Context &context, void *const *args,
                   int64_t *peak_bytes) {
    *peak_bytes = 0;
    ProfileScope profile(context.profile);
    return with_scratch(peak_bytes, [&] { return kernel(&context, args); });
}

int default_threads() {
    return omp_get_max_threads();
}

}  // namespace Pipe::jit
