// What this machine can do at best, measured: the limits that run times are compared with.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace bench {

/// A level of the memory hierarchy, with the bandwidth of all threads together.
struct Level {
    std::string name;     ///< "L2", "L3", "DRAM"
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
};

/// Takes about two seconds.
Ceilings measure_ceilings(int threads);

/// Reads bytes / 2 and writes as many, which are its own, with so many threads of OpenMP: through the
/// caches or past them.
std::function<void()> make_copy(int64_t bytes, int threads, bool past_caches);

/// Does so much arithmetic in registers (float, two operations per FMA), with so many threads of OpenMP.
std::function<void()> make_fmas(double flops, int threads);

}  // namespace bench
