#include "autoschedule/gpu/gpu_cost.h"

#include <algorithm>
#include <cmath>

namespace Pipe::autoschedule {

namespace {

/// Clocks of a load from L2 or global memory, of a barrier, and of an iteration of a reduction, of which several are
/// unrolled, that nothing else hides.
constexpr double load_latency = 600, barrier_latency = 40, iteration_latency = 120;
// Fitted to the times of 220 schedules of five stencil pipelines on an H200: of the lanes of a multiprocessor, and of its
// unit for loads and stores, what is reached; what the smaller terms add to the largest one; and what large blocks, whose
// threads wait for each other and leave together, and very small ones take besides.
constexpr double lanes_reached = 0.7, loads_reached = 1, of_smaller_terms = 0.2;
constexpr double large_block = 256, small_block = 64, odd_block = 1.1;
/// Threads of a multiprocessor that keep it busy.
constexpr double enough_threads = 512;

/// Blocks of a multiprocessor at one time.
double blocks_at_once(const GPU &gpu, const KernelWork &w) {
    double blocks = std::min<double>(gpu.max_blocks, std::floor(gpu.max_threads / w.threads));
    blocks = std::min(blocks,
                      std::floor(static_cast<double>(gpu.registers) / (w.registers * w.threads)));
    if (w.shared_bytes > 0)
        blocks = std::min(
            blocks, std::floor(static_cast<double>(gpu.shared_bytes) / (w.shared_bytes + 1024)));
    return std::max(1.0, blocks);
}

}  // namespace

Cost kernel_cost(const GPU &gpu, const KernelWork &w) {
    Cost cost;
    const double per_sm =
        std::min(blocks_at_once(gpu, w), std::ceil(w.blocks / gpu.multiprocessors));
    const double waves = w.blocks / (per_sm * gpu.multiprocessors);
    const double clock = 1 / gpu.clock_ghz;
    const double blocks_of_sm = std::ceil(w.blocks / gpu.multiprocessors);
    const double busy = std::min(1.0, blocks_at_once(gpu, w) * w.threads / enough_threads);
    cost.arithmetic = blocks_of_sm * w.instructions / gpu.lanes / lanes_reached / busy * clock;
    cost.near_memory =
        blocks_of_sm * (w.shared_loads / warp + w.global_loads) / loads_reached / busy * clock;
    cost.far_memory =
        std::max(w.dram_bytes / gpu.dram_bytes_per_ns, w.l2_bytes / gpu.l2_bytes_per_ns);
    // A block takes at least this long, of which others hide what they can.
    const double latency =
        std::ceil(waves) *
        (w.waits * load_latency + w.barriers * barrier_latency + w.iterations * iteration_latency) *
        clock;
    cost.overhead = gpu.launch_ns;
    cost.scratch_bytes = w.shared_bytes;
    cost.live_bytes = w.dram_bytes;
    const double most = std::max({cost.arithmetic, cost.near_memory, cost.far_memory, latency});
    const double sum = cost.arithmetic + cost.near_memory + cost.far_memory + latency;
    const bool is_odd = w.threads > large_block || w.threads < small_block;
    cost.total =
        (most + of_smaller_terms * (sum - most)) * (is_odd ? odd_block : 1) + cost.overhead;
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
