#pragma once
// Gives the directives of a PortableSchedule to the Funcs of this process, as their user would.

#include <memory>
#include <vector>

#include "language/portable.h"
#include <pipe/func.h>

namespace Pipe::language {

/// Replaces the schedule of all Funcs that the outputs need. What is promised or observed of a Func
/// (bounds, estimates, traces, memoize) stays. The Funcs that in(), clone_in() and rfactor() have added
/// stay if the schedule has them, too; the others are no longer part of the pipeline.
/// CompileError, and no change, for unknown directives, Funcs, loops, Params and images, arguments
/// that a directive does not take, and directives that are not legal.
void replay(const std::vector<Func> &outputs, const PortableSchedule &schedule);

/// RAII: replays a schedule as above, and restores the previous schedule in the destructor, unless keep()
/// was called.
class TemporarySchedule {
  public:
    TemporarySchedule(const std::vector<Func> &outputs, const PortableSchedule &schedule);
    /// No directives: everything is left to the autoscheduler.
    explicit TemporarySchedule(const std::vector<Func> &outputs);
    ~TemporarySchedule();
    /// It stays.
    void keep();
    TemporarySchedule(const TemporarySchedule &) = delete;
    TemporarySchedule &operator=(const TemporarySchedule &) = delete;

  private:
    class Snapshot;
    std::unique_ptr<const Snapshot> before_;

    void give(const std::vector<Func> &outputs, const PortableSchedule &schedule, bool fixed);
};

}  // namespace Pipe::language
