// What this machine can do at best, measured: the limits that run times are compared with.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace bench {

/// A level of the memory hierarchy, with the bandwidth of all threads together.
struct Level {
    std::string name;     ///< "L2", "L3", "DRAM"
    int64_t capacity;     ///< bytes that the threads together can hold there
    int64_t measured_on;  ///< bytes of the arrays measured on
    double read_gbps;     ///< bytes read per ns
    double copy_gbps;     ///< bytes read plus bytes written per ns
    double stream_gbps;   ///< the same with non-temporal stores; 0 where there are none
    /// The best of the bandwidths that both read and write.
    double best_gbps() const { return copy_gbps > stream_gbps ? copy_gbps : stream_gbps; }
};

struct Ceilings {
    int threads;
    int vector_bits;
    double fma_gflops;  ///< float, all threads, two operations per FMA
    std::vector<Level> levels;

    /// The level that data of that many bytes streams from.
    const Level &level_for(int64_t bytes) const;
};

/// Takes about two seconds.
Ceilings measure_ceilings(int threads);

}  // namespace bench
