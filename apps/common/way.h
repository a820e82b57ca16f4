// The schedules that every application is tried with.
#pragma once

#include "apps/common/program.h"

#include <pipe/pipe.h>

namespace apps {

enum class Way {
    Reference,  ///< none: for Pipeline::realize_reference
    Naive,
    Hand,
    Auto,
    GPU,  ///< by hand, for a GPU
};

/// As the demos, the tests and the benchmark call it: "hand".
const char *name_of(Way way);

/// Schedules `pipeline`, of stages of `program`, that way.
void schedule(Program &program, Pipe::Pipeline &pipeline, Way way, const Pipe::Target &target);

}  // namespace apps
