#include "autoschedule/gpu/reduction_threads.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace Pipe::autoschedule {

namespace {

constexpr int64_t one_warp = 32, most_threads = 256, beside = 8;

/// So many iterations a thread should have at least: else combining takes longer than they do.
constexpr int64_t least_steps = 4;

int64_t power_of_two_up_to(int64_t n) {
    return static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(std::max<int64_t>(n, 1))));
}

/// The RVar along which the elements of loads lie next to each other, but for clamps at the ends; -1: none.
int contiguous_rvar(const StageCost &stage) {
    for (const poly::Access &load : stage.loads) {
        if (load.coords.empty())
            continue;
        const poly::Coordinate &c = load.coords[0];
        if (c.follows >= 0)
            return c.follows;
        if (c.iterator < 0 && c.may_use == 0 && std::has_single_bit(c.reductions))
            return std::countr_zero(c.reductions);
    }
    return -1;
}

int longest(const std::vector<int64_t> &extents) {
    return static_cast<int>(std::max_element(extents.begin(), extents.end()) - extents.begin());
}

}  // namespace

double ReductionThreads::blocks(double points) const {
    return std::ceil(points / static_cast<double>(point_threads)) *
           static_cast<double>(rvar_blocks);
}

bool is_long_reduction(const Node &node, const StageCost &stage) {
    constexpr double many_points = 1 << 15, long_loop = 64;
    return !stage.rvars.empty() && stage.loops_over_all() && !stage.is_scan &&
           stage.repeats >= long_loop && node.looped_points(stage) < many_points;
}

ReductionThreads reduction_threads(const Node &node, const StageCost &stage, int multiprocessors) {
    ReductionThreads t;
    const bool has_points = !stage.loops_over.empty() && stage.loops_over[0];
    const int64_t width = has_points ? node.extents[0] : 1;
    const int along = contiguous_rvar(stage);
    t.lanes_along_points = width >= one_warp && along < 0;
    std::vector<int64_t> left = stage.rvars;  // iterations of each that are not divided yet
    if (t.lanes_along_points) {
        t.point_threads = one_warp;
        t.thread_rvar = longest(left);
        t.rvar_threads = power_of_two_up_to(
            std::min(beside, left[static_cast<size_t>(t.thread_rvar)] / least_steps));
    } else {
        t.thread_rvar = along >= 0 ? along : longest(left);
        t.point_threads = width >= beside ? beside : 1;
        t.rvar_threads =
            power_of_two_up_to(std::min(width >= beside ? one_warp : most_threads,
                                        left[static_cast<size_t>(t.thread_rvar)]));
    }
    int64_t &divided = left[static_cast<size_t>(t.thread_rvar)];
    divided = (divided + t.rvar_threads - 1) / t.rvar_threads;
    const int outer = longest(left);
    const double enough = 4.0 * multiprocessors / t.blocks(node.looped_points(stage));
    const auto most = static_cast<int64_t>(enough);
    t.rvar_blocks =
        std::max<int64_t>(1, std::min(most, left[static_cast<size_t>(outer)] / least_steps));
    // (A kernel has at least one loop over blocks.)
    if (t.rvar_blocks > 1 || node.dims() == 0)
        t.block_rvar = outer;
    return t;
}

}  // namespace Pipe::autoschedule
