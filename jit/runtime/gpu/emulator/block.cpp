#include "jit/runtime/gpu/emulator/block.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>
#include <utility>

namespace Pipe::runtime::emulator {

namespace {

constexpr int64_t shared_alignment = 256;
/// What shared memory holds at the beginning of a block.
constexpr int new_shared_memory = 0xfb;

}  // namespace

BlockRunner::~BlockRunner() {
    std::free(shared_);
}

void BlockRunner::begin_launch(const Run &run, void *const *params, Timeline &timeline,
                               Checker *checker) {
    run_ = &run;
    params_ = params;
    timeline_ = &timeline;
    checker_ = checker;
    kernel_ = run.module.kernels[run.launch.kernel].emulated;
    release_fibers();  // of a launch that ended by an exception
    threads_.assign(static_cast<size_t>(run.threads()), {});
    prepare_shared(run.launch.shared_bytes);
    for (Thread &thread : threads_) {
        const auto at = coordinates(number(thread), run.launch.threads);
        std::copy(at.begin(), at.end(), thread.thread);
        thread.shared = shared_;
        thread.emulator = this;
    }
}

void BlockRunner::prepare_shared(int64_t bytes) {
    if (!shared_ || bytes > shared_capacity_) {
        std::free(shared_);
        shared_capacity_ = (bytes / shared_alignment + 1) * shared_alignment;
        shared_ = static_cast<char *>(
            std::aligned_alloc(shared_alignment, static_cast<size_t>(shared_capacity_)));
        if (!shared_)
            throw std::bad_alloc();
        shared_shadow_.reset(shared_capacity_);
    }
}

void BlockRunner::prepare_threads(int64_t block) {
    const auto at = coordinates(block, run_->launch.blocks);
    for (Thread &thread : threads_) {
        std::copy(at.begin(), at.end(), thread.block);
        thread.state = Thread::Ready;
        thread.site = -1;
    }
    abandoned_ = false;
    std::memset(shared_, new_shared_memory, static_cast<size_t>(run_->launch.shared_bytes));
}

void BlockRunner::run(int64_t position) {
    timeline_->begin_block(position);
    prepare_threads(timeline_->block_at(position));
    if (checker_)
        checker_->begin_block(shared_);
    first_epoch_ = true;
    run_epoch();
    while (waiting_ > 0 && !abandoned_) {
        pass_barrier();
        timeline_->begin_epoch();
        run_epoch();
    }
    if (checker_ && !abandoned_)
        checker_->end_epoch(-1);
    release_fibers();
    if (failure_)
        std::rethrow_exception(std::exchange(failure_, nullptr));
}

/// In the order of the epoch; null at its end.
BlockRunner::Thread *BlockRunner::next_thread() {
    for (int64_t i = timeline_->next_stretch(); i >= 0; i = timeline_->next_stretch())
        if (threads_[static_cast<size_t>(i)].state == Thread::Ready)
            return &threads_[static_cast<size_t>(i)];
    return nullptr;
}

/// Until all threads wait at a barrier or have ended.
void BlockRunner::run_epoch() {
    waiting_ = 0;
    while (Thread *thread = abandoned_ ? nullptr : next_thread()) {
        thread_ = thread;
        fiber_ = std::exchange(thread->fiber, nullptr);
        if (fiber_)
            fiber_->resume();
        else if ((fiber_ = fibers_.take()))
            fiber_->start(&BlockRunner::run_threads, this);
        else
            throw std::bad_alloc();
        if (!fiber_->in_body())
            fibers_.give(fiber_);
    }
    first_epoch_ = false;
}

/// Threads begin one after the other in the same fiber, until one comes to a barrier, and keeps it.
void BlockRunner::run_threads(void *argument) {
    auto &runner = *static_cast<BlockRunner *>(argument);
    Thread *thread = runner.thread_;
    while (thread) {
        runner.kernel_(thread, runner.params_);
        thread->state = Thread::Ended;
        if (runner.checker_)
            runner.checker_->end_stretch();
        thread = runner.first_epoch_ ? runner.next_thread() : nullptr;
    }
}

/// All threads wait at barriers, or have ended.
void BlockRunner::pass_barrier() {
    const Thread &waiting = *std::find_if(threads_.begin(), threads_.end(), [](const Thread &t) {
        return t.state == Thread::Waiting;
    });
    if (checker_) {
        for (const Thread &thread : threads_)
            if (thread.state == Thread::Ended || thread.site != waiting.site)
                checker_->divergent_barrier(number(waiting), waiting.site, number(thread),
                                            thread.state == Thread::Ended ? -1 : thread.site);
        checker_->end_epoch(waiting.site);
    }
    for (Thread &thread : threads_)
        if (thread.state == Thread::Waiting)
            thread.state = Thread::Ready;
}

/// Goes back to run_epoch().
void BlockRunner::leave(Thread &thread) {
    thread.fiber = fiber_;
    fiber_->leave();
}

void BlockRunner::release_fibers() {
    for (Thread &thread : threads_)
        if (Fiber *fiber = std::exchange(thread.fiber, nullptr)) {
            fiber->abandon();
            fibers_.give(fiber);
        }
}

void BlockRunner::barrier(EmulatedThread *emulated, int32_t site) {
    auto &thread = *static_cast<Thread *>(emulated);
    if (checker_)
        checker_->end_stretch();
    thread.site = site;
    thread.state = Thread::Waiting;
    waiting_++;
    leave(thread);
}

void BlockRunner::access_slowly(EmulatedThread *emulated, int32_t site, uint64_t address,
                                int32_t bytes, uint64_t array, int64_t array_bytes) {
    auto &thread = *static_cast<Thread *>(emulated);
    try {
        if (checker_->access(number(thread), site, address, bytes, array, array_bytes))
            return;
    } catch (...) {
        // Generated code has no frames that exceptions could pass.
        failure_ = std::current_exception();
    }
    abandoned_ = true;
    leave(thread);
}

}  // namespace Pipe::runtime::emulator
