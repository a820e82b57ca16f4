#pragma once
// What the cost model knows of a GPU.

#include <cstdint>
#include <optional>
#include <string>

#include <pipe/target.h>

namespace Pipe::autoschedule {

/// Per multiprocessor unless it says otherwise; bandwidths of the whole GPU.
struct GPU {
    std::string name;
    int multiprocessors = 108;
    double clock_ghz = 1.41;
    int lanes = 64;  ///< float operations per clock
    int max_threads = 2048, max_blocks = 32;
    int64_t registers = 65536;
    int64_t shared_bytes = 164 << 10;        ///< of all blocks
    int64_t shared_bytes_block = 163 << 10;  ///< of one
    int64_t l2_bytes = 40 << 20;             ///< of the GPU
    double dram_bytes_per_ns = 1555, l2_bytes_per_ns = 4500;
    double launch_ns = 2000;
};

/// The GPU that the target names by its capability; of several, a typical one: sm_75 T4, sm_80 A100, sm_86 A10, sm_89 L4,
/// sm_90 H200. A100 where it names none. Nothing where the target has no kernels.
std::optional<GPU> gpu_of(const Target &target);

}  // namespace Pipe::autoschedule
