// Times of other systems' kernels for the applications, beside ours.
#pragma once

#include "apps/gpu/timing.h"

namespace gpu {

/// A row for each variant that the library of peers has of the application, timed as time_on_gpu does: inputs and output
/// in the memory of the device. None where the library was not built (see ./run gpu --with-peers). Precondition: has_gpu().
std::vector<Timing> time_peers_on_gpu(const apps::App &app, double seconds);

}  // namespace gpu
