#pragma once
// The blocks of threads that a kernel may have.

#include <cstdint>
#include <optional>
#include <vector>

namespace Pipe::autoschedule {

/// Points of a dimension without threads that a thread computes in one body, unrolled.
inline constexpr int64_t most_at_once = 4;

/// The threads of a block that is not planned: in one dimension; along x and y, as of the cells of a scatter; and of a
/// reduction whose iterations are combined by atomic operations.
inline constexpr int64_t usual_line = 128, usual_width = 32, usual_height = 4, atomic_line = 256;

/// What one block computes of the output of a group. Points of one thread along x are as many apart as there are threads
/// along x, so that threads next to each other access elements next to each other; points along other dimensions lie
/// together.
struct Block {
    std::vector<int64_t> threads, points;  ///< per dimension of the output
    std::optional<size_t> x, y;            ///< the dimensions with threads

    int64_t tile(size_t d) const { return threads[d] * points[d]; }
    int64_t columns() const { return x ? points[*x] : 1; }
    int64_t rows() const { return y ? points[*y] : 1; }
    double thread_count() const;
    /// That compute so many points.
    double blocks(const std::vector<int64_t> &extents) const;
    /// Points that a thread computes in one body, unrolled, of one column; the loops over the others are serial.
    int64_t at_once(size_t d) const;
    /// Of the dimensions without threads: iterations of the serial loops in a thread.
    double serial_steps() const;
};

/// The sizes of what is computed together, per dimension of the output.
struct BlockTiles {
    explicit BlockTiles(const Block &b);
    const Block &block;
    std::vector<int64_t> whole;    ///< by the block
    std::vector<int64_t> at_once;  ///< by a thread, of one column
    std::vector<int64_t> column;   ///< by a thread, of one column, one after the other
};

/// The dimensions of an output over which threads run: at most two, that of x first.
std::vector<size_t> thread_dimensions(const std::vector<int64_t> &extents);

/// A tile that is computed by these threads.
Block block_of(const std::vector<int64_t> &extents, const std::vector<int64_t> &tile,
               const std::vector<int64_t> &threads);

/// The block of a stage that has loops over some of the output's dimensions only: that of the others where it has threads
/// over the same dimensions, else one of its own.
Block block_of_stage(const Block &output, const std::vector<int64_t> &extents,
                     const std::vector<bool> &loops_over);

/// The blocks to choose from: few that differ much.
/// \param has_sums  threads may keep many points in registers, while they sum
std::vector<Block> coarse_blocks(const std::vector<int64_t> &extents, bool has_sums);
/// Those that differ from one in one respect, by a factor of two.
std::vector<Block> blocks_near(const Block &b, const std::vector<int64_t> &extents, bool has_sums);

}  // namespace Pipe::autoschedule
