#pragma once
// The expressions in a schedule: factors, bounds, conditions.

#include <pipe/schedule.h>

namespace Pipe::schedules {

template <typename F> void for_each_number(const schedules::StageSchedule &schedule, F &&f) {
    for (const schedules::Transform &t : schedule.transforms)
        f(t.factor);
    for (const schedules::Prefetch &p : schedule.prefetches)
        f(p.offset);
    for (const schedules::Specialization &special : schedule.specializations) {
        f(special.condition);
        for_each_number(special.schedule, f);
    }
}

/// Calls f on each, also if it is undefined.
template <typename F> void for_each_number(const schedules::FuncSchedule &schedule, F &&f) {
    for (const auto *bounds : {&schedule.bounds, &schedule.estimates})
        for (const schedules::Bound &b : *bounds)
            f(b.min), f(b.extent);
    for (const schedules::Alignment &a : schedule.alignments)
        f(a.modulus), f(a.remainder);
    for (const schedules::FoldedDim &fold : schedule.folds)
        f(fold.factor);
    for (const schedules::StorageDim &d : schedule.storage_dims)
        f(d.alignment), f(d.bound);
    if (schedule.memoize)
        f(schedule.memoize->eviction_key);
    f(schedule.ring_buffer);
    for (const schedules::StageSchedule &stage : schedule.stages)
        for_each_number(stage, f);
}

}  // namespace Pipe::schedules
