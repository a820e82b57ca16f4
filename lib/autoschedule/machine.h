#pragma once
// What the cost model knows of the machine.

#include <cstdint>
#include <string>

#include <pipe/autoschedule.h>
#include <pipe/target.h>

namespace Pipe::autoschedule {

/// Sizes are read from the host; rates are those of current server cores, in units of one core's clock.
/// They only weigh the terms of the cost model against each other.
struct Machine {
    int cores = 1;
    bool fast_math = false;  ///< sums of floats may be regrouped
    int vector_bytes = 32;   ///< of one register
    int vector_registers = 16;
    int64_t l1_bytes = 32 << 10;
    int64_t l2_bytes = 1 << 20;
    int64_t l3_bytes = 16 << 20;  ///< of all cores together

    // Vector instructions per clock.
    double arithmetic_rate = 2, load_rate = 2, store_rate = 1;
    // Bytes per clock and core that stream from beyond L1.
    double l2_rate = 32, l3_rate = 10, dram_rate = 6.5;
    double dram_rate_all_cores = 40;

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

/// The machine at hand, with what `target` and `options` say otherwise.
Machine host_machine(const Target &target, const AutoscheduleOptions &options = {});

std::string to_string(const Machine &machine);

}  // namespace Pipe::autoschedule
