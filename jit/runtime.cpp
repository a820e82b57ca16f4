#include "jit/runtime.h"

#include <algorithm>
#include <cstring>

#include <omp.h>

#include <fmt/format.h>

#include "jit/arena.h"

namespace Pipe::jit {

namespace {

/// A thread keeps this much scratch for the next run; more is given back.
constexpr int64_t kept_scratch = int64_t(1) << 30;

Arena &this_threads_arena() {
    thread_local Arena arena;
    return arena;
}

/// Runs f with the thread's arena, and leaves the arena as it was. Answers f's code; *peak grows by
/// the most scratch that f had in use.
template <typename F> int32_t with_scratch(int64_t *peak, F &&f) {
    Arena &arena = this_threads_arena();
    size_t depth = arena.depth();
    int64_t before = arena.used(), outer_peak = arena.peak();
    arena.reset_peak(before);
    int32_t code = f();
    arena.pop_to(depth);
    arena.trim(kept_scratch);
    *peak += arena.peak() - before;
    arena.reset_peak(outer_peak);
    return code;
}

/// The iterations of a parallel loop, handed out in ranges: large ones first, single ones at the
/// end, so that little is handed out often and all threads end at about the same time.
class Iterations {
  public:
    Iterations(int32_t min, int32_t extent, int threads)
        : next_(min), end_(static_cast<int64_t>(min) + extent), threads_(threads) {}

    bool take(int64_t *begin, int64_t *end) {
        *begin = next_.load(std::memory_order_relaxed);
        do {
            if (*begin >= end_) return false;
            *end = *begin + std::max<int64_t>(1, (end_ - *begin) / (4 * threads_));
        } while (!next_.compare_exchange_weak(*begin, *end, std::memory_order_relaxed));
        return true;
    }
    void stop() { next_.store(end_, std::memory_order_relaxed); }

  private:
    std::atomic<int64_t> next_;
    int64_t end_;
    int threads_;
};

/// One thread's share of a parallel loop.
int32_t work(Context *context, codegen::RangeBody *body, Iterations &iterations, void *closure) {
    int64_t begin = 0, end = 0;
    while (iterations.take(&begin, &end)) {
        int32_t code =
            body(context, static_cast<int32_t>(begin), static_cast<int32_t>(end), closure);
        if (code != 0) {
            iterations.stop();
            return code;
        }
    }
    return 0;
}

int32_t parallel_for(Context *context, codegen::RangeBody *body, int32_t min, int32_t extent,
                     void *closure) {
    if (extent <= 0) return 0;
    if (context->threads <= 1 || extent == 1 || omp_in_parallel()) {
        return body(context, min, min + extent, closure);
    }
    Iterations iterations(min, extent, context->threads);
    std::atomic<int32_t> result{0};
    std::atomic<int64_t> peak{0};
#pragma omp parallel num_threads(context->threads)
    {
        int64_t my_peak = 0;
        int32_t code =
            with_scratch(&my_peak, [&] { return work(context, body, iterations, closure); });
        peak.fetch_add(my_peak, std::memory_order_relaxed);
        int32_t none = 0;
        if (code != 0) result.compare_exchange_strong(none, code);
    }
    Arena &arena = this_threads_arena();
    arena.reset_peak(std::max(arena.peak(), arena.used() + peak.load()));
    return result.load();
}

void *scratch_push(Context *context, int64_t bytes) {
    return this_threads_arena().push(bytes, context->scratch_limit);
}

void scratch_pop(Context *, void *block) {
    this_threads_arena().pop(block);
}

int32_t out_of_memory_error(Context *context, const char *name, int64_t bytes) {
    std::string size = bytes == INT64_MAX ? "more than 2^63" : std::to_string(bytes);
    context->fail(out_of_memory, fmt::format("out of memory: Func {}, {} bytes", name, size));
    return out_of_memory;
}

std::string format_message(const char *text, const int64_t *values) {
    std::string message;
    for (; *text; text++) {
        switch (*text) {
        case codegen::SignedField: message += fmt::format("{}", *values++); break;
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
        default: message += *text;
        }
    }
    return message;
}

int32_t fail(Context *context, int32_t code, const char *text, const int64_t *values) {
    context->fail(code, format_message(text, values));
    return code;
}

}  // namespace

void Context::fail(int32_t, std::string message) {
    std::lock_guard lock(mutex_);
    if (failed()) return;
    message_ = std::move(message);
    failed_.store(true, std::memory_order_relaxed);
}

const std::vector<RuntimeSymbol> &runtime_symbols() {
    static const std::vector<RuntimeSymbol> symbols = {
        {"pipe_parallel_for", reinterpret_cast<void *>(&parallel_for)},
        {"pipe_scratch_push", reinterpret_cast<void *>(&scratch_push)},
        {"pipe_scratch_pop", reinterpret_cast<void *>(&scratch_pop)},
        {"pipe_out_of_memory", reinterpret_cast<void *>(&out_of_memory_error)},
        {"pipe_fail", reinterpret_cast<void *>(&fail)},
    };
    return symbols;
}

int32_t run_kernel(codegen::KernelFunction *kernel, Context &context, void *const *args,
                   int64_t *peak_bytes) {
    *peak_bytes = 0;
    return with_scratch(peak_bytes, [&] { return kernel(&context, args); });
}

int default_threads() {
    return omp_get_max_threads();
}

}  // namespace Pipe::jit
