// Schedules near one that is good, to compare predictions with measurements.
#pragma once

#include <pipe/pipe.h>

#include <cstdint>

namespace bench {

/// Changes the pipeline's schedule, which was applied or chosen, in a few places: other numbers, and directives left
/// out. CompileError where the result is refused. Deterministic.
void mutate_schedule(Pipe::Pipeline &pipeline, uint64_t seed);

}  // namespace bench
