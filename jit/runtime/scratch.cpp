#include "jit/runtime/scratch.h"

#include <mutex>
#include <set>

namespace Pipe::runtime {

namespace {

std::atomic<int64_t> kept{int64_t(256) << 20};

struct All {
    std::mutex mutex;
    std::set<ThreadScratch *> scratch;
};

All &all() {
    static auto *all = new All;  // not destroyed: a thread may outlive main()
    return *all;
}

}  // namespace

ThreadScratch::ThreadScratch() {
    std::lock_guard lock(all().mutex);
    all().scratch.insert(this);
}

ThreadScratch::~ThreadScratch() {
    std::lock_guard lock(all().mutex);
    all().scratch.erase(this);
}

void ThreadScratch::release() {
    release_.store(true, std::memory_order_relaxed);
    if (in_use_.exchange(true, std::memory_order_acquire))
        return;
    arena.trim(0);
    release_.store(false, std::memory_order_relaxed);
    unlock();
}

int64_t ThreadScratch::kept_bytes() {
    return kept_scratch();
}

void release_scratch() {
    std::lock_guard lock(all().mutex);
    for (ThreadScratch *scratch : all().scratch)
        scratch->release();
}

int64_t kept_scratch() {
    return kept.load(std::memory_order_relaxed);
}

void set_kept_scratch(int64_t bytes) {
    kept.store(bytes, std::memory_order_relaxed);
}

}  // namespace Pipe::runtime
