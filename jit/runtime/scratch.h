#pragma once
// The scratch memory of the threads.

#include <atomic>

#include "jit/runtime/arena.h"

namespace Pipe::runtime {

/// The arena of one thread. All arenas are registered (scratch.cpp), so that release_scratch() can
/// free those of idle threads.
class ThreadScratch {
  public:
    ThreadScratch();
    ~ThreadScratch();
    ThreadScratch(const ThreadScratch &) = delete;

    /// While it is in use, other threads do not free its memory. Reentrant.
    void enter() {
        if (depth_++ == 0)
            lock();
    }
    /// Frees what exceeds the limit per thread.
    void leave() {
        arena.trim(release_.load(std::memory_order_relaxed) ? 0 : kept_bytes());
        if (--depth_ == 0) {
            release_.store(false, std::memory_order_relaxed);
            unlock();
        }
    }
    /// From any thread: frees all memory now, or if it is in use, when leave() is called.
    void release();

    Arena arena;

  private:
    void lock() {
        while (in_use_.exchange(true, std::memory_order_acquire))
            in_use_.wait(true, std::memory_order_relaxed);
    }
    void unlock() {
        in_use_.store(false, std::memory_order_release);
        in_use_.notify_one();
    }
    static int64_t kept_bytes();

    int depth_ = 0;
    std::atomic<bool> in_use_{false}, release_{false};
};

inline ThreadScratch &this_threads_scratch() {
    thread_local ThreadScratch scratch;
    return scratch;
}

inline Arena &this_threads_arena() {
    return this_threads_scratch().arena;
}

/// Frees the scratch memory of all threads: of those that run a pipeline, when it ends.
void release_scratch();

/// Bytes that each thread keeps for the next run; the rest is freed.
int64_t kept_scratch();
void set_kept_scratch(int64_t bytes);

/// Runs f with the thread's arena, and restores the arena. Returns f's code; *peak increases by the
/// maximum scratch that f had in use.
template <typename F> int32_t with_scratch(int64_t *peak, F &&f) {
    ThreadScratch &scratch = this_threads_scratch();
    scratch.enter();
    Arena &arena = scratch.arena;
    int64_t mark = arena.mark(), before = arena.used(), outer_peak = arena.peak();
    arena.reset_peak(before);
    int32_t code = f();
    arena.pop_since(mark);
    *peak += arena.peak() - before;
    arena.reset_peak(outer_peak);
    scratch.leave();
    return code;
}

}  // namespace Pipe::runtime
