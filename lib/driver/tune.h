#pragma once
// Pipeline::tune: measures schedules and applies the fastest.

#include "driver/compiler.h"
#include <pipe/realization.h>
#include <pipe/tune.h>

namespace Pipe::driver {

/// See Pipeline::tune.
TuneResult tune(const std::vector<Func> &outputs, Compiler &compiler, const Realization &buffers,
                const TuneOptions &options);

/// See Pipeline.
void save_schedule(const std::vector<Func> &outputs, Compiler &compiler, const std::string &path);
void apply_schedule(const std::vector<Func> &outputs, Compiler &compiler, const std::string &path);

}  // namespace Pipe::driver
