// Measured peak rates of this machine with the target's vectors, to which run times are compared.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace bench {

/// The instructions that the loops may use.
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
    double stream_gbps;   ///< the same with non-temporal stores, if there are any
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

/// Returns a function that reads bytes / 2 and writes as many, with OpenMP threads: through the
/// caches, or with non-temporal stores.
std::function<void()> make_copy(int64_t bytes, Limits limits, bool past_caches);

/// Returns a function that performs this many operations in registers with OpenMP threads, in
/// floats or doubles (`bits` wide); an FMA counts as two.
std::function<void()> make_fmas(double flops, int bits, Limits limits);

}  // namespace bench
