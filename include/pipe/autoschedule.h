#pragma once
// Options of the autoscheduler.

#include <cstdint>

namespace Pipe {

/// Options of Pipeline::autoschedule().
struct AutoscheduleOptions {
    /// Number of cores to schedule for; 0 = get_num_threads().
    int cores = 0;
    /// Cache sizes in bytes for which tiles are chosen: L1 and L2 of one core, and the last level
    /// shared by all cores; 0 = those of this machine.
    int64_t l1_bytes = 0;
    int64_t l2_bytes = 0;
    int64_t l3_bytes = 0;
    /// After this many milliseconds the search ends with the best schedule found so far.
    double time_budget_ms = 1000;
    /// Maximum number of Funcs fused in one step of the search; 0 = chosen by the size of the
    /// pipeline. Larger values search more and take longer.
    int group_limit = 0;
};

}  // namespace Pipe
