#pragma once
// How long cores wait for the one that takes longest.

#include <cstdint>

#include "support/integers.h"

namespace Pipe::autoschedule {

/// What uneven tasks add to the time of all cores, relative to sharing the work evenly: the largest task takes `busiest`
/// times the mean and may be the last, and while it runs, the other cores wait for half of it on average.
inline double wait_for_last(double tasks, double cores, double busiest) {
    return (cores - 1) / 2 * (busiest - 1) / tasks;
}

/// Time of the busiest core against all cores sharing the work evenly, where so many tasks are shared.
inline double imbalance(int64_t tasks, int cores, double busiest) {
    return double(ceil_div(tasks, int64_t(cores)) * cores) / double(tasks) +
           wait_for_last(double(tasks), cores, busiest);
}

}  // namespace Pipe::autoschedule
