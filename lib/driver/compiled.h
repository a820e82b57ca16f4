#pragma once
// A pipeline as it was compiled: frozen graph, final schedule, kernels.

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "driver/arguments.h"
#include "graph/freeze.h"
#include "jit/kernel.h"
#include <pipe/autoschedule.h>
#include <pipe/pipeline.h>

namespace Pipe::driver {

/// What the compiler does beyond the user's directives.
struct Settings {
    Target target;  ///< Arch::Unknown: the host
    std::optional<AutoscheduleOptions> autoschedule;
};

/// A graph with its final, legal schedule.
struct Scheduled {
    graph::Frozen frozen;  ///< schedule: the final one
    graph::Graph inlined;
    std::optional<Schedule> user;  ///< where the autoscheduler completed it
    std::string report;            ///< of the autoscheduler
    double freeze_ms = 0, schedule_ms = 0;
};

/// Freezes, schedules and checks. The sizes that the autoscheduler is told are the estimates, else
/// those of `outputs` (may be null) and of the inputs that are set.
Scheduled make_schedule(const std::vector<Func> &outputs, const Settings &settings,
                        const Realization *buffers);

/// Gives up the autoscheduler's answer: every Func that the user left open is computed at root, or,
/// if that is not legal, inlined. False where there is nothing to give up.
bool fall_back(Scheduled &scheduled, const std::string &why);

/// Kernels of one schedule. There is one per set of buffers that are not dense, and another of each
/// that is right for every size: the usual one computes a little more than is asked for where that
/// is faster, and says so where a small image does not allow it.
class Compiled {
  public:
    Compiled(const std::vector<Func> &outputs, const Settings &settings, const Target &requested,
             const Realization *buffers);

    /// Whether it is what `requested` asks for and nothing changed since. Cheap.
    bool up_to_date(const Target &requested) const;

    /// Runs; compiles first where need be. From several threads at once.
    void run(const Realization &outputs);
    /// The usual kernel.
    void compile();

    Scheduled scheduled() const;
    CompileTimes times() const;
    int64_t peak_scratch_bytes() const { return peak_scratch_.load(std::memory_order_relaxed); }

  private:
    struct Variant {
        uint64_t strided = 0;
        bool any_size = false;
        auto operator<=>(const Variant &) const = default;
    };

    Target requested_, target_;
    mutable std::atomic<uint64_t> epoch_;
    Scheduled scheduled_;
    Slots slots_;
    mutable std::mutex mutex_;
    std::map<Variant, jit::Kernel> kernels_;
    std::atomic<const jit::Kernel *> usual_{nullptr};
    CompileTimes times_;
    std::atomic<int64_t> peak_scratch_{0};

    const jit::Kernel &kernel(const Variant &variant);
    ir::Program lower(const Variant &variant);
    int run_kernel(const jit::Kernel &kernel, const CallArguments &call, std::string *error);
};

}  // namespace Pipe::driver
