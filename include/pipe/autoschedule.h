#pragma once
// What the autoscheduler can be told.

#include <cstdint>

namespace Pipe {

/// What the autoscheduler is told.
struct AutoscheduleOptions {
    /// Cores to schedule for; 0 = as many as get_num_threads() says.
    int cores = 0;
    /// Bytes of cache that tiles are sized for: L1 and L2 of one core, the last level of all cores
    /// together; 0 = those of this machine.
    int64_t l1_bytes = 0;
    int64_t l2_bytes = 0;
    int64_t l3_bytes = 0;
    /// Milliseconds after which the best schedule found so far is taken.
    double time_budget_ms = 1000;
    /// Largest number of Funcs that are fused in one step of the search; 0 = chosen by the size of
    /// the pipeline. A larger one searches more and takes longer.
    int group_limit = 0;
};

}  // namespace Pipe
