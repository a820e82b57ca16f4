#pragma once
// The profiler: time, number of threads, and memory per Func.
//
// Generated code marks the current Func with one store per `produce`: it points the thread's slot
// to an entry of the run's table. A sampling thread examines the slots of all threads once per
// millisecond while profiled pipelines run. Every run has its own table, so several pipelines and
// concurrent calls of one do not mix.

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "jit/runtime/abi.h"
#include "jit/runtime/profiled_func.h"

namespace Pipe::runtime {

class ProfiledRun;

/// One Func during one run. Generated code knows only its size and address.
struct alignas(profile_entry_bytes) ProfileEntry {
    ProfiledRun *run = nullptr;
    // Written by the sampling thread.
    double weight = 0;           ///< samples; one that found n busy threads counts 1/n for each
    int64_t samples = 0;         ///< samples that found a thread in this Func
    int64_t thread_samples = 0;  ///< threads found, over all samples
    int threads_now = 0;         ///< in the current sample
    // Written by the threads that run the pipeline.
    std::atomic<int64_t> bytes{0}, peak_bytes{0}, mallocs{0}, malloc_bytes{0};

    void allocated(int64_t n);
    void freed(int64_t n) { bytes.fetch_sub(n, std::memory_order_relaxed); }
};

static_assert(sizeof(ProfileEntry) == profile_entry_bytes);

/// A thread's pointer to its current Func.
using ProfileSlot = std::atomic<ProfileEntry *>;
ProfileSlot &this_threads_slot();

/// One run: sampled from construction to stop().
class ProfiledRun {
  public:
    explicit ProfiledRun(size_t funcs);
    ~ProfiledRun();
    ProfiledRun(const ProfiledRun &) = delete;

    ProfileEntry *table() { return entries_.get(); }
    size_t size() const { return size_; }
    /// Ends sampling. Nothing of the pipeline runs any more.
    void stop();
    /// From construction to stop().
    double milliseconds() const { return milliseconds_; }

  private:
    std::unique_ptr<ProfileEntry[]> entries_;
    size_t size_;
    std::chrono::steady_clock::time_point start_;
    double milliseconds_ = 0;
    bool running_ = true;
};

/// During its lifetime, the thread works on `entry` (or on what generated code sets); then on the
/// previous one.
class ProfileScope {
  public:
    explicit ProfileScope(ProfileEntry *entry)
        : slot_(entry ? &this_threads_slot() : nullptr), before_(slot_ ? slot_->load() : nullptr) {
        if (slot_)
            slot_->store(entry, std::memory_order_relaxed);
    }
    ~ProfileScope() {
        if (slot_)
            slot_->store(before_, std::memory_order_relaxed);
    }
    ProfileScope(const ProfileScope &) = delete;

  private:
    ProfileSlot *slot_;
    ProfileEntry *before_;
};

/// Launches of one kernel of a GPU.
struct KernelTime {
    std::string kernel;
    int64_t launches = 0;
    double milliseconds = 0;
};
void add_kernel_time(std::vector<KernelTime> &times, const KernelTime &time);

/// The sum over runs of one pipeline.
class Profile {
  public:
    struct Func {
        std::string name;
        double weight = 0;
        int64_t samples = 0, thread_samples = 0;
        int64_t peak_bytes = 0, mallocs = 0, malloc_bytes = 0, stack_bytes = 0;
    };

    Profile() = default;
    Profile(const Profile &other);
    void add(ProfiledRun &run, const std::vector<ProfiledFunc> &funcs);
    void add(const Profile &other);
    void add(const std::vector<KernelTime> &kernels);
    void reset();

    /// Per Func, in order of first appearance.
    std::vector<std::pair<std::string, double>> milliseconds_per_run() const;
    /// A table, one line per Func in order of first appearance. `name`: of the pipeline.
    std::string text(const std::string &name) const;
    /// The same as a self-contained page, slowest first.
    std::string html(const std::string &name) const;

  private:
    mutable std::mutex mutex_;
    std::vector<Func> funcs_;
    std::vector<KernelTime> kernels_;
    int64_t runs_ = 0;
    double milliseconds_ = 0;

    Func &find(const std::string &name);
    double total_weight() const;
};

}  // namespace Pipe::runtime
