#pragma once
// Machine parameters of the cost model.

#include <cstdint>
#include <optional>
#include <string>

#include "autoschedule/gpu/gpu.h"
#include <pipe/autoschedule.h>
#include <pipe/target.h>

namespace Pipe::autoschedule {

/// Of a cache: the rest is for data that streams through, and, of L3, for other processes and virtual machines.
constexpr double usable_l1 = 0.82, usable_l2 = 0.75, usable_l3 = 0.5;

/// Sizes are those of the host; rates are typical of current server cores, in clocks of one core, but for what all
/// cores move from and to memory. They only weight the terms of the cost model.
struct Machine {
    int cores = 1;
    bool fast_math = false;  ///< floating-point sums may be reassociated
    int vector_bytes = 32;   ///< of one register
    int vector_registers = 16;
    int64_t l1_bytes = 32 << 10;
    int64_t l2_bytes = 1 << 20;
    int64_t l3_bytes = 16 << 20;  ///< shared by all cores

    std::optional<GPU> gpu;  ///< where the target has kernels

    // Vector instructions per clock.
    double arithmetic_rate = 2, load_rate = 2, store_rate = 1;
    // Streaming bandwidth from beyond L1, in bytes per clock and core.
    double l2_rate = 32, l3_rate = 10, dram_rate = 6.5;
    double dram_rate_all_cores = 40;
    double prefetched_rows = 16;  ///< read at a time, which the prefetchers of a core follow

    // Clocks.
    double row_overhead = 5;    ///< entering one innermost loop
    double tail_overhead = 10;  ///< the last, partial vector of one
    double nest_overhead = 10;  ///< bounds and buffers of one stage, once per tile or row step
    double stream_start =
        150;  ///< first lines of a row that does not follow the one before, in memory
    double stream_start_l3 = 10;       ///< the same in the shared cache
    double task_overhead = 1500;       ///< one iteration of a parallel loop
    double parallel_overhead = 15000;  ///< waking the other threads
};

/// The host, modified by `target` and `options`. (It measures nothing: the driver does.)
Machine host_machine(const Target &target, const AutoscheduleOptions &options = {});

std::string to_string(const Machine &machine);

}  // namespace Pipe::autoschedule
