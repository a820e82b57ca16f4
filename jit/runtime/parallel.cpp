// Parallel loops: pipe_parallel_for.
//
// An outermost loop runs on a team of OpenMP threads, which take ranges of its iterations. A nested
// loop begins on the thread that reaches it. Threads of the team that find no iteration left in the
// outer loop wait for its end; between two ranges, a nested loop looks for such threads, and
// recruits as many as it has iterations for. So a nested loop has almost no overhead while all
// threads are busy, and no more threads run than the context allows.

#include <algorithm>
#include <utility>

#include <omp.h>

#include <fmt/format.h>

#include "jit/runtime/forked.h"
#include "jit/runtime/runtime.h"
#include "jit/runtime/scratch.h"
#include "jit/runtime/tasks.h"

namespace Pipe::runtime {

namespace {

/// The iterations of a parallel loop, distributed in ranges: large ones first, single ones at the
/// end, so that there are few requests and all threads finish at about the same time.
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
    int64_t left() const {
        return std::max<int64_t>(0, end_ - next_.load(std::memory_order_relaxed));
    }

  private:
    std::atomic<int64_t> next_;
    int64_t end_;
    int threads_;
};

/// The threads that work on an outermost parallel loop and on the loops inside.
class Team {
  public:
    /// Registers a thread that waits for the end of the loop.
    void wait() { waiting_.fetch_add(1, std::memory_order_relaxed); }
    /// Takes a waiting thread, if there is one.
    bool take() {
        int waiting = waiting_.load(std::memory_order_relaxed);
        while (waiting > 0)
            if (waiting_.compare_exchange_weak(waiting, waiting - 1, std::memory_order_relaxed))
                return true;
        return false;
    }

  private:
    std::atomic<int> waiting_{0};
};

/// The current work of this thread.
struct Work {
    const Iterations *iterations = nullptr;  ///< of the innermost shared loop
    Team *team = nullptr;                    ///< null outside of all parallel loops
};
thread_local Work current_work;

/// A running parallel loop.
struct Loop {
    Context *context;
    RangeBody *body;
    void *closure;
    std::atomic<int32_t> code{0};  ///< of the first failure
    std::atomic<int64_t> peak{0};  ///< scratch, over all threads

    /// A loop inside that did not begin, because another thread had failed, may end before what failed.
    void fail(int32_t failure) {
        int32_t before = 0;
        if (failure != 0 && !code.compare_exchange_strong(before, failure) &&
            before == handler_failed)
            code.compare_exchange_strong(before, failure);
    }
    /// Calls f on this thread, which is marked as working on the loop.
    template <typename F> int32_t with_thread(F &&f) {
        ProfileScope profile(context->profile);
        int64_t my_peak = 0;
        int32_t result = with_scratch(&my_peak, f);
        peak.fetch_add(my_peak, std::memory_order_relaxed);
        fail(result);
        return result;
    }
};

/// The JITTask passed to handlers, with a Loop as closure.
int one_iteration(JITUserContext *, int index, uint8_t *closure) {
    Loop &loop = *reinterpret_cast<Loop *>(closure);
    if (loop.context->failed())
        return handler_failed;
    return loop.with_thread(
        [&] { return loop.body(loop.context, index, index + 1, loop.closure); });
}

/// Runs a range of the loop, each iteration by custom_do_task.
int32_t run_tasks(Loop &loop, int64_t begin, int64_t end) {
    Context &context = *loop.context;
    int32_t code = 0;
    for (int64_t i = begin; i < end && code == 0; i++) {
        bool good = context.call([&] {
            code = context.handlers.custom_do_task(context.user, one_iteration, static_cast<int>(i),
                                                   reinterpret_cast<uint8_t *>(&loop));
        });
        if (!good || (code != 0 && !context.failed() && loop.code == 0)) {
            context.fail(handler_failed,
                         fmt::format("custom_do_task returned {}. It must return what the task "
                                     "returned; 0 means success.",
                                     code));
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

/// One thread's part of a parallel loop; calls f() before each range.
template <typename F> int32_t work(Loop &loop, Iterations &iterations, Team &team, F &&f) {
    int64_t begin = 0, end = 0;
    int32_t code = 0;
    const Work outer = std::exchange(current_work, {&iterations, &team});
    while (code == 0 && iterations.take(&begin, &end)) {
        f();
        code = run_range(loop, begin, end);
    }
    current_work = outer;
    if (code != 0)
        iterations.stop();
    return code;
}

/// Runs the whole loop by custom_do_par_for.
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
        context.fail(
            handler_failed,
            fmt::format("custom_do_par_for returned {}. It must run all iterations and return "
                        "0, or the first nonzero result of a task.",
                        answer));
    return context.failed() ? handler_failed : 0;
}

// ThreadSanitizer does not know the synchronization inside OpenMP: annotated here.
#ifdef __SANITIZE_THREAD__
extern "C" void __tsan_acquire(void *);
extern "C" void __tsan_release(void *);
#define PIPE_UNSEEN_BY_TSAN __attribute__((no_sanitize("thread")))
#else
inline void __tsan_acquire(void *) {}
inline void __tsan_release(void *) {}
#define PIPE_UNSEEN_BY_TSAN
#endif

void share(Loop &loop, Iterations &iterations, Team &team) {
    loop.with_thread([&] { return work(loop, iterations, team, [] {}); });
}

void join_team(Loop &loop, Iterations &iterations, Team &team) {
    __tsan_acquire(&iterations);
    share(loop, iterations, team);
    team.wait();
    __tsan_release(&iterations);
}

PIPE_UNSEEN_BY_TSAN void fork_and_join(Loop &loop, Iterations &iterations, int threads) {
    Team team;
#pragma omp parallel num_threads(threads)
    join_team(loop, iterations, team);
}

void help(Loop &loop, Iterations &iterations, Team &team) {
    __tsan_acquire(&iterations);
    if (iterations.left() > 0)
        share(loop, iterations, team);
    team.wait();
    __tsan_release(&iterations);
}

PIPE_UNSEEN_BY_TSAN void ask_for_help(Loop *loop, Iterations *iterations, Team *team) {
    __tsan_release(iterations);
#pragma omp task default(none) firstprivate(loop, iterations, team)
    help(*loop, *iterations, *team);
}

PIPE_UNSEEN_BY_TSAN void wait_for_help() {
#pragma omp taskwait
}

/// A nested loop, on a thread of the team.
void run_inside(Loop &loop, Iterations &iterations, Team &team) {
    bool asked = false;
    loop.with_thread([&] {
        return work(loop, iterations, team, [&] {
            for (int64_t left = iterations.left(); left > 0 && team.take(); left--) {
                ask_for_help(&loop, &iterations, &team);
                asked = true;
            }
        });
    });
    if (asked)
        wait_for_help();
}

void run_on_openmp(Loop &loop, int32_t min, int32_t extent) {
    int threads = loop.context->threads;
    Iterations iterations(min, extent, threads);
    __tsan_release(&iterations);
    if (Team *team = current_work.team) {
        run_inside(loop, iterations, *team);
    } else {
        about_to_start_team();
        fork_and_join(loop, iterations, threads);
    }
    __tsan_acquire(&iterations);
}

/// A nested loop may be shared once the outer one has no iterations left: another thread may come
/// to wait for its end while this one still works.
bool may_be_shared(const Context &context, int32_t extent) {
    if (context.threads <= 1 || extent == 1)
        return false;
    if (current_work.team)
        return current_work.iterations->left() == 0;
    return !inside_parallel_loop() && !team_was_lost();
}

}  // namespace

int32_t pipe_parallel_for(Context *context, RangeBody *body, int32_t min, int32_t extent,
                          void *closure) {
    if (extent <= 0)
        return 0;
    if (context->failed())
        return handler_failed;
    Loop loop{context, body, closure};
    if (context->handlers.custom_do_par_for) {
        loop.fail(run_custom(loop, min, extent));
    } else if (may_be_shared(*context, extent)) {
        run_on_openmp(loop, min, extent);
    } else {
        return run_range(loop, min, int64_t{min} + extent);
    }
    Arena &arena = this_threads_arena();
    arena.reset_peak(std::max(arena.peak(), arena.used() + loop.peak.load()));
    return loop.code;
}

}  // namespace Pipe::runtime
