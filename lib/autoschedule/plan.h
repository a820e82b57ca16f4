#pragma once
// Plan: how a group of Funcs is computed. Plain data; apply.h converts it to directives.

#include <cstdint>
#include <string>
#include <vector>

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
};

/// The compute level of a member of a group.
enum class Level : uint8_t {
    Tile,  ///< whole, once per tile (overlapped tiles)
    Row,   ///< row by row inside the tile, keeping shared rows (sliding window)
    Thread,  ///< kernels: once per thread
};

struct Plan {
    std::vector<int> members;  ///< nodes, the group's output first, then consumers before producers
    size_t stage =
        0;  ///< of the output: the one that reads the other members, in whose loops they are
    std::vector<Level> levels;  ///< per member; unused for the output
    std::vector<bool> slides;   ///< per member at Row: rows are kept for later rows
    std::vector<bool>
        transposed;  ///< per member: the rows that are computed together lie side by side
    std::vector<int64_t> tile;  ///< per dimension of the output
    std::vector<std::vector<int64_t>>
        extents;             ///< per member and its dimensions: what is computed of it at a time
    int row_dim = -1;        ///< the loop that Row members are computed in; -1: none
    int64_t block = 1;       ///< rows of it that are computed together, unrolled around the vector
    std::vector<Rows> rows;  ///< per member: of its own rows
    std::vector<int> outer;  ///< dimensions that have a loop over tiles, outermost first
    bool parallel = false;   ///< the outermost of these loops
    bool streams = false;    ///< the output uses non-temporal stores
    std::vector<int64_t> threads;  ///< kernels: per dimension of the output; empty: for the CPU
    Cost cost;

    int output() const { return members[0]; }
};

}  // namespace Pipe::autoschedule
