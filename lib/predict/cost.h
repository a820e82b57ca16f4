#pragma once
// The time of a Nest on a machine.

#include "autoschedule/machine.h"
#include "predict/nest.h"
#include "predict/rates.h"
#include <pipe/predict.h>

namespace Pipe::predict {

/// Milliseconds per stage.
///
///  * Arithmetic: per loop body, the busiest execution unit, or the chain of dependences between iterations.
///  * Caches: in the outermost loop of which one iteration fits into a cache, what the loop touches is
///    transferred once; outside of it, again in every iteration.
///  * Parallel loops: the iterations are shared by the cores that no loop around uses.
Prediction cost(const Nest &nest, const autoschedule::Machine &machine, const Rates &rates);

}  // namespace Pipe::predict
