#pragma once
// Predicts the run time of a lowered program: of any schedule, whoever wrote it.
//
//   numbers, form    the value of an index or bound in the loops around it, as a linear form
//   body             instructions and accesses of straight-line code
//   walk             the program as loops with numbers of iterations (nest.h)
//   footprint        the cache lines that accesses touch in some loops
//   cost             the time

#include "autoschedule/machine.h"
#include "predict/rates.h"
#include "predict/walk.h"
#include <pipe/predict.h>

namespace Pipe::predict {

struct Result {
    Prediction prediction;
    /// The program would refuse its buffers: only the one for any size (lower::LowerOptions::any_size) can run.
    bool too_small = false;
};

/// For CPUs. Of the machine's rates, those of caches and memory are not used, but `rates`.
Result predict(const ir::Program &program, const Values &values, const Target &target,
               const autoschedule::Machine &machine, const Rates &rates);

}  // namespace Pipe::predict
