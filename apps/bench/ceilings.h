// What this machine can do at best with the target's vectors, measured: the ceilings that run times are
// compared with.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace bench {

/// What code may use.
struct Limits {
    int threads;
    int vector_bytes;  ///< of a vector register: 16, 32 or 64
};

/// A level of the memory hierarchy, with the bandwidth of all threads together.
struct Level {
    std::string name;     ///< "L2", "L3", "DRAM"
    int64_t measured_on;  ///< bytes of the arrays measured on
    double read_gbps;     ///< bytes read per ns
    double copy_gbps;     ///< bytes read plus bytes written per ns
    double stream_gbps;   ///< the same with non-temporal stores, where there are such
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
Ceilings measure_ceilings(Limits limits);

/// Reads bytes / 2 and writes as many, which are its own, with OpenMP's threads: through the caches, or
/// with non-temporal stores.
std::function<void()> make_copy(int64_t bytes, Limits limits, bool past_caches);

/// Does so much arithmetic in registers with OpenMP's threads, in floats or doubles (of so many bits), two
/// operations for each FMA.
std::function<void()> make_fmas(double flops, int bits, Limits limits);

}  // namespace bench
