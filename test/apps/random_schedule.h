// Random legal schedules for the applications.
#pragma once

#include "apps/common/program.h"

#include <pipe/pipe.h>

#include <cstdint>

namespace app_test {

/// Gives the stages of a program, which has none yet, random directives that are legal together:
/// some stages are inlined, the others computed as a whole or inside a loop of a later stage, their
/// loops split, reordered, vectorized, unrolled and run in parallel. The same seed gives the same
/// schedule.
void schedule_at_random(apps::Program &program, Pipe::Pipeline &pipeline, uint64_t seed);

}  // namespace app_test
