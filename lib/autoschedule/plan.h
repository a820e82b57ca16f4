#pragma once
// Plan: how a group of Funcs is computed. Plain data; apply.h converts it to directives.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "autoschedule/register_block.h"
#include "autoschedule/row_sharing.h"

namespace Pipe::autoschedule {

/// The terms of a group's cost, in clocks of one core unless stated otherwise.
struct Cost {
    double arithmetic = 0;  ///< instructions of all points, including redundant ones
    double updates =
        0;  ///< elapsed, of scans and scatters: updates without a loop over each dimension
    double near_memory = 0;  ///< scratch that does not fit L1
    double far_memory = 0;   ///< live-in and live-out data, from and to L3 or DRAM
    double overhead = 0;     ///< entering loops, tasks and threads
    double imbalance = 1;    ///< slowest core relative to the average
    double total = 0;        ///< elapsed clocks on all cores, everything included

    double redundancy = 0;  ///< points computed more than once, as a fraction of all points needed
    double scratch_bytes = 0;  ///< intermediate buffers of one tile
    double live_bytes = 0;     ///< live-in and live-out bytes of the whole group

    /// Of a published strategy: `total` is in its own unit, and the terms above are not known.
    bool published = false;
};

/// The compute level of a member of a group.
enum class Level : uint8_t {
    Tile,   ///< whole, once per tile (overlapped tiles)
    Row,    ///< once per step of the row loop inside the tile, keeping shared rows (sliding window)
    Block,  ///< once per register block of the output, which takes its sums from registers; kernels: for all points
            ///< of a thread at once, each in a register of its own
    Thread,  ///< kernels: once per thread
};

/// A loop of a group's output.
struct OutputLoop {
    int dim = -1;            ///< the dimension that it runs along; -1: around all loops
    bool over_tiles = true;  ///< else over the points of one tile
    bool operator==(const OutputLoop &) const = default;
};

/// Where a member is computed and stored, if neither once per tile nor row by row.
struct Place {
    OutputLoop compute, store;  ///< inside of these loops
    std::vector<int> order;     ///< its dimensions, innermost first; empty: as in its definition
};

struct Plan {
    std::vector<int> members;  ///< nodes, the group's output first, then consumers before producers
    size_t stage =
        0;  ///< of the output: the one that reads the other members, in whose loops they are
    std::vector<Level> levels;  ///< per member; unused for the output
    std::vector<bool> slides;   ///< per member at Row: rows are kept for later rows
    std::vector<int> shares;  ///< per member: an earlier one whose loops compute both; -1: its own
    std::vector<bool>
        transposed;  ///< per member: the rows that are computed together lie side by side
    std::vector<int64_t> tile;  ///< per dimension of the output
    std::vector<std::vector<int64_t>>
        extents;        ///< per member and its dimensions: what is computed of it at a time
    int row_dim = -1;   ///< the loop that Row members are computed in; -1: none
    int64_t step = 1;   ///< rows of it in one iteration of that loop: the height of inner tiles
    int64_t block = 1;  ///< rows of these that are unrolled around the vector; divides step
    /// A short dimension of the output, such as the channels of a color, that is unrolled around the vector: what
    /// does not depend on it is computed once. Then the rows of a block are not unrolled. -1: none
    int unrolled = -1;
    /// Points of the output that are computed in one body, unrolled, per dimension: the register block of the
    /// members at Level::Block. Empty: there are none.
    std::vector<int64_t> register_block;
    std::optional<PackedOperand> packed;  ///< of the only member at Level::Block
    std::vector<Rows> rows;               ///< per member: of its own rows
    std::vector<Place> places;  ///< per member, instead of `levels`; empty: as `levels` says
    /// Order of the loops over the points of a tile, innermost first; the vector of dimension 0 is
    /// inside of all. Empty: as in the definition, with row_dim outermost.
    std::vector<int> inner;
    std::vector<int> outer;        ///< dimensions that have a loop over tiles, outermost first
    bool parallel = false;         ///< the outermost of these loops
    bool streams = false;          ///< the output uses non-temporal stores
    bool prefetches = true;        ///< rows that stream in (prefetch_rows.h)
    std::vector<int64_t> threads;  ///< kernels: per dimension of the output; empty: for the CPU
    std::vector<std::vector<int>>
        follows;  ///< kernels: per member and its dimensions: that of the output; -1: none
    Cost cost;

    int output() const { return members[0]; }
};

}  // namespace Pipe::autoschedule
