#pragma once
// The time of a kernel, from what its blocks do.

#include "autoschedule/gpu/gpu.h"
#include "autoschedule/plan.h"

namespace Pipe::autoschedule {

/// Threads of a warp.
inline constexpr double warp = 32;

struct KernelWork {
    double blocks = 1, threads = 1;  ///< threads of a block
    double launches = 1;             ///< with those of kernels that combine parts of it
    double registers = 32;           ///< of a thread
    double shared_bytes = 0;         ///< of a block

    // Of one block; of the first three, what ptxas does not save and others do not hide.
    double instructions = 0;  ///< of all threads
    double shared_loads = 0;  ///< and stores, of 4 bytes, of all threads
    double global_loads =
        0;             ///< and stores: lines of the first cache, 128 bytes, that warps access
    double waits = 0;  ///< of a thread for loads from global memory, one after the other
    double barriers = 0;
    double iterations = 0;  ///< of reductions, whose loads a thread waits for

    // Of the kernel, in bytes.
    double dram_bytes = 0;  ///< what is read and written once
    double l2_bytes = 0;    ///< what all blocks read and write together, in whole sectors
};

/// In ns; the terms of Cost that kernels have.
Cost kernel_cost(const GPU &gpu, const KernelWork &work);

/// Of two kernels.
Cost one_after_the_other(const Cost &a, const Cost &b);

}  // namespace Pipe::autoschedule
