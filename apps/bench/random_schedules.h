// Random schedules of the kind that people try: for comparing a prediction with measurements.
#pragma once

#include "apps/common/registry.h"

#include <pipe/pipe.h>

#include <cstdint>

namespace bench {

/// Gives the stages of a program random directives: inlining, compute levels, tiles, vectors, unrolled and
/// parallel loops, orders of loops. What is illegal by itself is left out; the whole may still be refused with
/// a CompileError. Deterministic.
void schedule_plausibly(apps::Program &program, Pipe::Pipeline &pipeline,
                        const Pipe::Target &target, uint64_t seed);

/// Changes the pipeline's schedule, which was applied or chosen, in a few places: other numbers, and directives left
/// out. CompileError where the result is refused.
void mutate_schedule(Pipe::Pipeline &pipeline, uint64_t seed);

}  // namespace bench
