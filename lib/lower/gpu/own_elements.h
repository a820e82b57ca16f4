#pragma once
// Which elements of a buffer a thread of a block accesses.
//
// The index of an access, with lets expanded, is decomposed into multiples of the thread index (per block dimension),
// multiples of the counters of loops inside the thread, a constant, and a remainder that is uniform over the block. These
// are the digits of a mixed-radix number: if the digits of the thread's own counters never carry into those of the thread
// index, different threads access different elements:
//
//     tile[y*256 + 64*j + x*4 + i], 16 threads x, 16 threads y:   i below 4, j from 64 below 256
//
// Then different threads access different elements, and the thread can have them in an array [j*4 + i] of its own.

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "ir/stmt_node.h"

namespace Pipe::lower {

/// An array of a block of which each thread accesses elements of its own, as one array per thread.
struct OwnArray {
    /// What the thread counts between two places of threads.
    struct Place {
        int64_t unit = 1, end = 0;  ///< it counts multiples of `unit` below `end`
        int64_t most = 0;           ///< the largest, in any access
        int64_t base = 1;           ///< what one unit is in the thread's array
    };
    std::vector<Place> places;  ///< from the lowest up
    int64_t least = 0;          ///< constant that all indices have
    int64_t elements = 1;       ///< per thread

    /// Where `value` belongs in the thread's array; nothing where it reaches into the place of a thread.
    std::optional<int64_t> own_index(int64_t value) const;
};

struct OwnElements {
    /// Buffers that the kernel stores to and of whose elements no two threads of a block access the same one.
    std::set<std::string> buffers;
    /// Those among them that can be arrays of threads.
    std::map<std::string, OwnArray> arrays;
};

/// As far as it can be proven. The loops over threads must still be there.
OwnElements own_elements(const ir::Stmt &launch);

/// The body of the launch, where these buffers are indexed as arrays of threads.
ir::Stmt with_own_arrays(const ir::Stmt &launch, const std::map<std::string, OwnArray> &arrays);

}  // namespace Pipe::lower
