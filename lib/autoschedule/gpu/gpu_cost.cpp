#include "autoschedule/gpu/gpu_cost.h"

#include <algorithm>
#include <cmath>

namespace Pipe::autoschedule {

namespace {

// Fitted to the times of 2300 kernels of 24 applications on an H200, under 46 schedules each that were chosen at random among the
// better ones.

/// Of the bandwidth of the data sheet, what is reached; of what is loaded again from L2, what takes time.
constexpr double dram_reached = 0.95, l2_left = 0.12;
/// All of that takes longer with fewer threads on a multiprocessor than this: by that power of the ratio.
constexpr double enough_threads = 1130, few_threads_power = 0.42;
/// Where all blocks run at the same time, loads and stores do not overlap.
constexpr double single_wave = 0.75;
/// Clocks of a load from L2 or global memory, of a barrier, and of an iteration of a reduction, of which several are
/// unrolled.
constexpr double load_latency = 360, barrier_latency = 280, iteration_latency = 55;

/// Blocks of a multiprocessor at one time.
double blocks_at_once(const GPU &gpu, const KernelWork &w) {
    double blocks = std::min<double>(gpu.max_blocks, std::floor(gpu.max_threads / w.threads));
    constexpr double unit = 8;  // in which registers are allotted
    const double registers = std::ceil(w.registers / unit) * unit;
    blocks =
        std::min(blocks, std::floor(static_cast<double>(gpu.registers) / (registers * w.threads)));
    if (w.shared_bytes > 0)
        blocks = std::min(
            blocks, std::floor(static_cast<double>(gpu.shared_bytes) / (w.shared_bytes + 1024)));
    return std::max(1.0, blocks);
}

}  // namespace

Cost kernel_cost(const GPU &gpu, const KernelWork &w) {
    Cost cost;
    const double clock = 1 / gpu.clock_ghz;
    const double blocks_of_sm = std::ceil(w.blocks / gpu.multiprocessors);
    const double per_sm = std::min(blocks_at_once(gpu, w), blocks_of_sm);
    const double waves = w.blocks / (per_sm * gpu.multiprocessors);
    const double slower =
        std::pow(std::max(1.0, enough_threads / (per_sm * w.threads)), few_threads_power);
    cost.arithmetic = blocks_of_sm * w.instructions / gpu.lanes * slower * clock;
    cost.near_memory = blocks_of_sm * (w.shared_loads / warp + w.global_loads) * slower * clock;
    cost.far_memory = (w.dram_bytes / (gpu.dram_bytes_per_ns * dram_reached) +
                       std::max(0.0, w.l2_bytes - w.dram_bytes) / gpu.l2_bytes_per_ns * l2_left) *
                      (1 + single_wave / waves) * slower;
    const double latency =
        std::max(waves, 1.0) *
        (w.waits * load_latency + w.barriers * barrier_latency + w.iterations * iteration_latency) *
        clock;
    cost.overhead = w.launches * gpu.launch_ns;
    cost.scratch_bytes = w.shared_bytes;
    cost.live_bytes = w.dram_bytes;
    cost.total = cost.arithmetic + cost.near_memory + cost.far_memory + latency + cost.overhead;
    return cost;
}

Cost one_after_the_other(const Cost &a, const Cost &b) {
    Cost sum = a;
    sum.arithmetic += b.arithmetic;
    sum.near_memory += b.near_memory;
    sum.far_memory += b.far_memory;
    sum.overhead += b.overhead;
    sum.live_bytes += b.live_bytes;
    sum.total += b.total;
    sum.scratch_bytes = std::max(a.scratch_bytes, b.scratch_bytes);
    return sum;
}

}  // namespace Pipe::autoschedule
