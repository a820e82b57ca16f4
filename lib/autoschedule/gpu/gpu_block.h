#pragma once
// The blocks of threads that a kernel may have.

#include <cstdint>
#include <optional>
#include <vector>

namespace Pipe::autoschedule {

/// What one block computes of the output of a group. Points of one thread along x are as many apart as there are threads
/// along x, so that threads next to each other access elements next to each other; points along y lie together.
struct Block {
    std::vector<int64_t> threads, points;  ///< per dimension of the output
    std::optional<size_t> x, y;            ///< the dimensions with threads

    int64_t tile(size_t d) const { return threads[d] * points[d]; }
    int64_t columns() const { return x ? points[*x] : 1; }
    int64_t rows() const { return y ? points[*y] : 1; }
    double thread_count() const {
        double n = 1;
        for (int64_t t : threads)
            n *= static_cast<double>(t);
        return n;
    }
};

/// The dimensions of an output over which threads run: at most two, that of x first.
std::vector<size_t> thread_dimensions(const std::vector<int64_t> &extents);

/// The blocks to choose from.
std::vector<Block> block_candidates(const std::vector<int64_t> &extents);

}  // namespace Pipe::autoschedule
