// What is known of the kernels of an application without a GPU: by the emulator's counters and by ptxas.
#pragma once

#include "apps/common/registry.h"
#include "apps/common/way.h"

#include <string>
#include <vector>

namespace gpu {

using apps::Way;  ///< GPU or Auto

/// A row of the table. Negative: not known (ptxas is not installed), or not applicable.
struct Figures {
    std::string app, variant;
    std::string failure;  ///< why there are none; else ""
    apps::Size size{};    ///< that was emulated
    int kernels = 0;      ///< launches of a run
    double sectors_per_pixel =
        0;  ///< of 32 bytes, that warps load and store in global memory, per point of the size
    double compulsory_sectors = 0;  ///< the different ones of each launch, per point of the size
    int64_t shared_bytes = 0;       ///< of a block, the largest of all kernels
    int registers = -1;             ///< of a thread, the most of all kernels
    int64_t spill_bytes = -1;       ///< of a thread, added up over the kernels
    int64_t stack_bytes = -1;       ///< likewise, with arrays in local memory
    double barriers = 0;            ///< that a block comes to, added up over the launches
    double occupancy = -1;          ///< on an A100, the lowest of all kernels
    double search_ms = -1;          ///< of the autoscheduler
    double ptx_ms = -1;             ///< from the loops to PTX
    double cpu_ms =
        -1;  ///< from the loops to objects for the CPU, under the hand schedule for CPUs
};

/// The size at which an application is emulated: large enough for whole blocks where that does not take long.
apps::Size emulated_size(const apps::App &app);

/// The application that is emulated: with fewer levels or layers where there are so many that it takes long.
const apps::App &emulated_form(const apps::App &app);

/// Never throws a Pipe::Error: that is the failure of the row.
Figures measure(const apps::App &app, Way way);

}  // namespace gpu
