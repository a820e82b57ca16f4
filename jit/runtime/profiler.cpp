// Profiler: the sampling thread, and notifications from generated code and the run time.

#include "jit/runtime/profiler.h"

#include <algorithm>
#include <condition_variable>
#include <thread>

namespace Pipe::runtime {

namespace {

using Clock = std::chrono::steady_clock;
constexpr auto interval = std::chrono::milliseconds(1);

/// Samples all slots while profiled pipelines run. Never destroyed: its thread may outlive main().
class Sampler {
  public:
    static Sampler &get() {
        static auto *sampler = new Sampler();
        return *sampler;
    }

    void add(ProfileSlot *slot) {
        std::lock_guard lock(mutex_);
        slots_.push_back(slot);
    }
    void remove(ProfileSlot *slot) {
        std::lock_guard lock(mutex_);
        slots_.erase(std::find(slots_.begin(), slots_.end(), slot));
    }
    void add(ProfiledRun *run) {
        std::lock_guard lock(mutex_);
        if (!started_)
            std::thread([this] { sample_forever(); }).detach();
        started_ = true;
        runs_.push_back(run);
        wake_.notify_one();
    }
    /// No slot points into the run any more; after this, no sample does.
    void remove(ProfiledRun *run) {
        std::lock_guard lock(mutex_);
        runs_.erase(std::find(runs_.begin(), runs_.end(), run));
    }

  private:
    std::mutex mutex_;
    std::condition_variable wake_;
    std::vector<ProfileSlot *> slots_;
    std::vector<ProfiledRun *> runs_;
    bool started_ = false;

    void sample_forever() {
        std::unique_lock lock(mutex_);
        while (true) {
            wake_.wait(lock, [&] { return !runs_.empty(); });
            lock.unlock();
            std::this_thread::sleep_for(interval);
            lock.lock();
            sample();
        }
    }

    void sample() {
        for (ProfileSlot *slot : slots_)
            if (ProfileEntry *entry = slot->load(std::memory_order_relaxed))
                entry->threads_now++;
        for (ProfiledRun *run : runs_)
            sample(*run);
    }

    static void sample(ProfiledRun &run) {
        int threads = 0;
        for (size_t i = 0; i < run.size(); i++)
            threads += run.table()[i].threads_now;
        for (size_t i = 0; i < run.size(); i++) {
            ProfileEntry &e = run.table()[i];
            if (e.threads_now == 0)
                continue;
            e.weight += static_cast<double>(e.threads_now) / threads;
            e.samples++;
            e.thread_samples += e.threads_now;
            e.threads_now = 0;
        }
    }
};

/// The slot of a thread, known to the sampler while the thread lives.
struct RegisteredSlot {
    ProfileSlot slot{nullptr};
    RegisteredSlot() { Sampler::get().add(&slot); }
    ~RegisteredSlot() { Sampler::get().remove(&slot); }
};

}  // namespace

ProfileSlot &this_threads_slot() {
    thread_local RegisteredSlot registered;
    return registered.slot;
}

void ProfileEntry::allocated(int64_t n) {
    int64_t now = bytes.fetch_add(n, std::memory_order_relaxed) + n;
    int64_t most = peak_bytes.load(std::memory_order_relaxed);
    while (now > most && !peak_bytes.compare_exchange_weak(most, now, std::memory_order_relaxed)) {
    }
    mallocs.fetch_add(1, std::memory_order_relaxed);
    malloc_bytes.fetch_add(n, std::memory_order_relaxed);
}

ProfiledRun::ProfiledRun(size_t funcs)
    : entries_(std::make_unique<ProfileEntry[]>(funcs)), size_(funcs), start_(Clock::now()) {
    for (size_t i = 0; i < size_; i++)
        entries_[i].run = this;
    Sampler::get().add(this);
}

ProfiledRun::~ProfiledRun() {
    stop();
}

void ProfiledRun::stop() {
    if (!running_)
        return;
    running_ = false;
    Sampler::get().remove(this);
    milliseconds_ = std::chrono::duration<double, std::milli>(Clock::now() - start_).count();
}

}  // namespace Pipe::runtime
