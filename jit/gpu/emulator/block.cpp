#include "jit/gpu/emulator/block.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>
#include <utility>

namespace Pipe::jit::emulator {

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
    release_fibers();
    threads_.resize(static_cast<size_t>(run.threads()));
    prepare_shared(run.launch.shared_bytes);
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
        const auto in_block = coordinates(number(thread), run_->launch.threads);
        std::copy_n(in_block.begin(), 3, thread.thread);
        std::copy_n(at.begin(), 3, thread.block);
        thread.shared = shared_;
        thread.emulator = this;
        thread.runner = this;
        thread.state = Thread::Ready;
        thread.site = -1;
    }
    running_ = static_cast<int64_t>(threads_.size());
    abandoned_ = false;
    std::memset(shared_, new_shared_memory, static_cast<size_t>(run_->launch.shared_bytes));
}

void BlockRunner::run(int64_t position) {
    timeline_->begin_block(position);
    prepare_threads(timeline_->block_at(position));
    if (checker_)
        checker_->begin_block(shared_);
    while (true) {
        for (int64_t i = 0; i < static_cast<int64_t>(threads_.size()) && !abandoned_; i++) {
            Thread &thread = threads_[static_cast<size_t>(timeline_->thread_at(i))];
            timeline_->begin_stretch(i);
            if (thread.state == Thread::Ready)
                run_stretch(thread);
        }
        if (!abandoned_)
            end_epoch();
        if (abandoned_ || running_ == 0)
            break;
        timeline_->begin_epoch();
    }
    release_fibers();
    if (failure_)
        std::rethrow_exception(std::exchange(failure_, nullptr));
}

void BlockRunner::release_fibers() {
    for (Thread &thread : threads_)
        if (Fiber *fiber = std::exchange(thread.fiber, nullptr)) {
            fiber->abandon();
            fibers_.give(fiber);
        }
}

/// Until a barrier or the end.
void BlockRunner::run_stretch(Thread &thread) {
    if (thread.fiber) {
        thread.fiber->resume();
    } else {
        thread.fiber = fibers_.take();
        if (!thread.fiber)
            throw std::bad_alloc();
        thread.fiber->start(&BlockRunner::body, &thread);
    }
    if (abandoned_)
        return;
    if (checker_)
        checker_->end_stretch();
    if (!thread.fiber->in_body()) {
        thread.state = Thread::Ended;
        running_--;
        fibers_.give(std::exchange(thread.fiber, nullptr));
    }
}

void BlockRunner::body(void *argument) {
    Thread &thread = *static_cast<Thread *>(argument);
    BlockRunner &runner = *thread.runner;
    const Run &run = *runner.run_;
    run.module.kernels[run.launch.kernel].emulated(&thread, runner.params_);
}

/// All threads wait at barriers, or have ended: the barriers are passed.
void BlockRunner::end_epoch() {
    const Thread *waiting = nullptr;
    for (Thread &thread : threads_)
        if (thread.state == Thread::Waiting) {
            waiting = waiting ? waiting : &thread;
            thread.state = Thread::Ready;
        }
    if (waiting && checker_)
        report_divergence(*waiting);
    if (checker_)
        checker_->end_epoch(waiting ? waiting->site : -1);
    for (Thread &thread : threads_)
        thread.site = -1;
}

void BlockRunner::report_divergence(const Thread &waiting) {
    for (const Thread &thread : threads_)
        if (thread.site != waiting.site)
            checker_->divergent_barrier(number(waiting), waiting.site, number(thread), thread.site);
}

void BlockRunner::barrier(EmulatedThread *emulated, int32_t site) {
    auto &thread = *static_cast<Thread *>(emulated);
    thread.site = site;
    thread.state = Thread::Waiting;
    thread.fiber->leave();
}

void BlockRunner::access(EmulatedThread *emulated, int32_t site, const void *address, int32_t bytes,
                         const void *array, int64_t array_bytes) {
    auto &thread = *static_cast<Thread *>(emulated);
    if (!checker_)
        return;
    try {
        if (checker_->access(number(thread), site, address, bytes, array, array_bytes))
            return;
    } catch (...) {
        // Generated code has no frames that exceptions could pass.
        failure_ = std::current_exception();
    }
    abandoned_ = true;
    thread.fiber->leave();
}

}  // namespace Pipe::jit::emulator
