#pragma once
// New loops of a stage: transforms with names that are unique in it.

#include <string>
#include <utility>
#include <vector>

#include "graph/graph.h"
#include <pipe/schedule.h>

namespace Pipe::autoschedule {

/// Appends to the transforms of one stage; the caller orders the loops that there are then.
class NewLoops {
  public:
    NewLoops(schedules::StageSchedule &stage, const graph::FuncNode &func);

    /// Splits `old`; {outer, inner} replace it. `outer` and `inner` are suffixes of its name.
    std::pair<std::string, std::string> split(const std::string &old, const char *outer,
                                              const char *inner, int64_t factor,
                                              TailStrategy tail = TailStrategy::GuardWithIf);
    /// The loop that replaces both.
    std::string fuse(const std::string &inner, const std::string &outer);

  private:
    std::string fresh(const std::string &wish);

    schedules::StageSchedule &stage_;
    std::vector<std::string> taken_;
};

}  // namespace Pipe::autoschedule
