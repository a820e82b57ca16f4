#pragma once
// Runs the threads of one block, as fibers.

#include <exception>
#include <vector>

#include "jit/runtime/gpu/emulator/checker.h"
#include "jit/runtime/gpu/emulator/fiber.h"

namespace Pipe::runtime::emulator {

/// Of one thread of the host at a time. Kept from launch to launch, with its stacks.
class BlockRunner {
  public:
    BlockRunner() = default;
    ~BlockRunner();
    BlockRunner(const BlockRunner &) = delete;

    /// Before the blocks of a launch. `checker`: null for kernels without checks.
    void begin_launch(const Run &run, void *const *params, Timeline &timeline, Checker *checker);
    /// The position-th block.
    void run(int64_t position);

    /// Of the shared memory, from block to block.
    Shadow &shared_shadow() { return shared_shadow_; }

    // Called by kernels.
    void barrier(EmulatedThread *thread, int32_t site);
    void access(EmulatedThread *thread, int32_t site, const void *address, int32_t bytes,
                const void *array, int64_t array_bytes) {
        const auto at = reinterpret_cast<uint64_t>(address),
                   array_at = reinterpret_cast<uint64_t>(array);
        if (checker_ && !checker_->access_quickly(site, at, bytes, array_at, array_bytes))
            access_slowly(thread, site, at, bytes, array_at, array_bytes);
    }

  private:
    struct Thread : EmulatedThread {
        enum State { Ready, Waiting, Ended };
        State state = Ready;
        int32_t site = -1;       ///< where it waits, or waited
        Fiber *fiber = nullptr;  ///< that it was left in
    };

    int64_t number(const Thread &thread) const { return &thread - threads_.data(); }
    void prepare_shared(int64_t bytes);
    void prepare_threads(int64_t block);
    Thread *next_thread();
    void run_epoch();
    static void run_threads(void *runner);
    void pass_barrier();
    void leave(Thread &thread);
    void access_slowly(EmulatedThread *thread, int32_t site, uint64_t address, int32_t bytes,
                       uint64_t array, int64_t array_bytes);
    void release_fibers();

    const Run *run_ = nullptr;
    EmulatedKernel *kernel_ = nullptr;
    void *const *params_ = nullptr;
    Timeline *timeline_ = nullptr;
    Checker *checker_ = nullptr;

    FiberPool fibers_;
    std::vector<Thread> threads_;
    Fiber *fiber_ = nullptr;    ///< that runs
    Thread *thread_ = nullptr;  ///< that it runs, when it starts
    bool first_epoch_ = true;
    int64_t waiting_ = 0;     ///< threads
    bool abandoned_ = false;  ///< after an access that must not happen
    std::exception_ptr failure_;
    char *shared_ = nullptr;
    int64_t shared_capacity_ = 0;
    Shadow shared_shadow_;
};

}  // namespace Pipe::runtime::emulator
