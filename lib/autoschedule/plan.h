#pragma once
// A plan: how one group of Funcs is computed. Plain data; apply.h turns it into directives.

#include <cstdint>
#include <string>
#include <vector>

#include "autoschedule/row_sharing.h"

namespace Pipe::autoschedule {

/// Clocks of one core unless said otherwise; the terms of the cost of a group.
struct Cost {
    double arithmetic = 0;  ///< instructions of all points, redundant ones included
    double updates =
        0;  ///< elapsed, of scans and scatters: updates without a loop over each dimension
    double near_memory = 0;  ///< scratch that does not fit L1
    double far_memory = 0;   ///< live-in and live-out data, from and to L3 or DRAM
    double overhead = 0;     ///< entering loops, tasks and threads
    double imbalance = 1;    ///< slowest core against the average
    double total = 0;        ///< elapsed clocks on all cores, everything included

    double redundancy = 0;  ///< points computed more than once, as a fraction of all points needed
    double scratch_bytes = 0;  ///< intermediate buffers of one tile
    double live_bytes = 0;     ///< live-in and live-out bytes of the whole group
};

/// Where a member of a group is computed.
enum class Level : uint8_t {
    Tile,  ///< whole, once per tile (overlapped tiles)
    Row,   ///< row by row inside the tile; what neighbouring rows share stays (sliding window)
};

struct Plan {
    std::vector<int> members;  ///< nodes, the group's output first, then consumers before producers
    std::vector<Level> levels;  ///< per member; the output's own is not used
    std::vector<bool> slides;   ///< per member at Row: rows are kept for later rows
    std::vector<int64_t> tile;  ///< per dimension of the output
    std::vector<std::vector<int64_t>>
        extents;             ///< per member and its dimensions: what is computed of it at a time
    int row_dim = -1;        ///< the loop that Row members are computed in; -1: none
    int64_t block = 1;       ///< rows of it that are computed together, unrolled around the vector
    std::vector<Rows> rows;  ///< per member: of its own rows
    std::vector<int> outer;  ///< dimensions that have a loop over tiles, outermost first
    bool parallel = false;   ///< the outermost of these loops
    bool streams = false;    ///< the output bypasses the caches
    Cost cost;

    int output() const { return members[0]; }
};

}  // namespace Pipe::autoschedule
