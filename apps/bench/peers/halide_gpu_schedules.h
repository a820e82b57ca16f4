// The GPU schedules of Halide's own applications, for the programs of this table that have the same stages.
#pragma once

#include "apps/common/program.h"

namespace apps {

/// Tile sizes and structure as in Halide's repository (apps/<application>/<application>_generator.cpp). Our other form of
/// an application gets the same schedule, as far as it has the same stages. Our own GPU schedules are of no use to Halide:
/// where all threads of a block compute a stage together, it makes a thread for each point, of which there may be 1024.
/// \return false where Halide's applications have no such program
bool schedule_as_halide_does(Program &program);

}  // namespace apps
