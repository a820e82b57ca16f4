#include "jit/runtime/tasks.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <new>
#include <thread>
#include <utility>
#include <vector>

#include <omp.h>
#include <unistd.h>

#include "jit/runtime/profiler.h"
#include "jit/runtime/scratch.h"

namespace Pipe::runtime {

namespace {

thread_local bool is_inside_parallel_loop = false;

struct Semaphore {
    std::mutex mutex;
    std::condition_variable changed;
    int64_t count;
};
static_assert(sizeof(Semaphore) <= semaphore_bytes && alignof(Semaphore) <= 64);

Semaphore &at(void *memory) {
    return *std::launder(static_cast<Semaphore *>(memory));
}

/// The first task of a fork.
struct Task {
    Context *context;
    RangeBody *body;
    void *closure;
    bool inside_parallel_loop;
    int32_t code = 0;
    int64_t peak = 0;  ///< of its scratch
    bool done = false;
    std::mutex mutex{};
    std::condition_variable changed{};

    void run() {
        is_inside_parallel_loop = inside_parallel_loop;
        {
            ProfileScope profile(context->profile);
            code = with_scratch(&peak, [&] { return body(context, 0, 0, closure); });
        }
        std::lock_guard lock(mutex);
        done = true;
        changed.notify_one();
    }
    void wait() {
        std::unique_lock lock(mutex);
        changed.wait(lock, [&] { return done; });
    }
};

/// Threads that have finished a task wait a while for the next: starting a thread takes longer than
/// many tasks.
class TaskThreads {
  public:
    static TaskThreads &get() {
        static auto *all = new TaskThreads;  // not destroyed: a thread may outlive main()
        return *all;
    }

    /// std::system_error if no thread can be started.
    void start(Task &task) {
        std::lock_guard lock(mutex_);
        if (std::exchange(process_, getpid()) != getpid())
            idle_.clear();  // after fork(), these exist only in the parent
        if (idle_.empty()) {
            idle_.reserve(++threads_);  // reserved here because push_back must not throw later
            std::thread([this, &task] { work(&task); }).detach();
            return;
        }
        idle_.back()->next = &task;
        idle_.back()->changed.notify_one();
        idle_.pop_back();
    }

  private:
    struct Idle {
        Task *next = nullptr;
        std::condition_variable changed{};
    };

    void work(Task *task) {
        while (task) {
            task->run();
            Idle self;
            std::unique_lock lock(mutex_);
            idle_.push_back(&self);
            self.changed.wait_for(lock, std::chrono::seconds(1), [&] { return self.next; });
            task = self.next;
            if (!task) {
                idle_.erase(std::find(idle_.begin(), idle_.end(), &self));
                threads_--;
            }
        }
    }

    std::mutex mutex_;
    std::vector<Idle *> idle_;
    size_t threads_ = 0;  ///< idle or not
    pid_t process_ = getpid();
};

}  // namespace

bool inside_parallel_loop() {
    return is_inside_parallel_loop || omp_in_parallel();
}

int32_t pipe_fork(Context *context, RangeBody *first, void *first_closure, RangeBody *second,
                  void *second_closure) {
    Task task{context, first, first_closure, inside_parallel_loop()};
    try {
        TaskThreads::get().start(task);
    } catch (const std::exception &error) {
        context->fail(out_of_memory,
                      std::string("no thread could be started for an async Func: ") + error.what() +
                          ". Raise the limit on threads (ulimit -u), or leave async() out.");
        return out_of_memory;
    }
    int32_t second_code = second(context, 0, 0, second_closure);
    task.wait();
    int32_t first_code = task.code;
    Arena &arena = this_threads_arena();
    arena.reset_peak(std::max(arena.peak(), arena.used() + task.peak));
    bool first_failed = first_code != 0 && first_code != canceled;
    return first_failed || second_code == 0 ? first_code : second_code;
}

void pipe_semaphore_open(void *memory, int64_t count) {
    new (memory) Semaphore{{}, {}, count};
}

void pipe_semaphore_close(void *memory) {
    at(memory).~Semaphore();
}

int32_t pipe_semaphore_acquire(Context *context, void *memory) {
    Semaphore &s = at(memory);
    std::unique_lock lock(s.mutex);
    // Failures elsewhere are polled: nobody would release the semaphore any more.
    while (!s.changed.wait_for(lock, std::chrono::milliseconds(20), [&] { return s.count > 0; }))
        if (context->failed())
            return canceled;
    s.count--;
    return context->failed() ? canceled : 0;
}

void pipe_semaphore_release(void *memory) {
    Semaphore &s = at(memory);
    std::lock_guard lock(s.mutex);
    s.count++;
    s.changed.notify_one();
}

void pipe_lock_enter(int32_t *lock) {
    std::atomic_ref taken(*lock);
    while (taken.exchange(1, std::memory_order_acquire) != 0)
        taken.wait(1, std::memory_order_relaxed);
}

void pipe_lock_leave(int32_t *lock) {
    std::atomic_ref taken(*lock);
    taken.store(0, std::memory_order_release);
    taken.notify_one();
}

}  // namespace Pipe::runtime
