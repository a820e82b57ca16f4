#pragma once
// Footprints: the cache lines that accesses touch in some of the loops around them.

#include <map>
#include <vector>

#include "predict/nest.h"
#include "support/cache_lines.h"

namespace Pipe::predict {

using support::cache::line_bytes, support::cache::page_bytes;

/// Accesses of one stage to one buffer, in one loop body, that differ by constant offsets.
struct Group {
    static constexpr int lanes_of_vector = 1 << 20, copies = lanes_of_vector + 1;
    struct Dim {
        int loop;               ///< lanes_of_vector; copies: no loop, but unrolled statements
        double step;            ///< bytes, positive
        double distinct;        ///< positions in the loop
        double lo = 0, hi = 0;  ///< offsets of the accesses, in steps
    };
    int buffer = 0, stage = 0;
    bool store = false;
    double chance = 1;  ///< that any of it is accessed, in an iteration of the loop at hand
    double first = 0;   ///< byte of the first access
    double lo = 0,
           hi = 0;       ///< bytes of all accesses relative to that, without offsets of whole steps
    double element = 1;  ///< bytes
    std::vector<Dim> dims;      ///< by step
    bool data = false;          ///< at places that depend on data,
    double range = 0;           ///< in so many bytes (0: unknown),
    uint64_t loops = 0;         ///< another one in each iteration of these loops,
    double lanes = 1;           ///< so many at a time
    std::vector<double> trips;  ///< of the loops around it, for data
};

struct Footprint {
    double bytes = 0;  ///< in whole cache lines
    /// The part of a cache that these lines take: more than their bytes where they crowd into few sets, as
    /// those of a column do whose rows are a multiple of a page apart.
    double occupied = 0;
    double runs = 0;  ///< pieces that lie apart
    double pages = 0;
    double lo = 0, hi = 0;  ///< the bytes of the buffer between which they lie
};

/// The groups of a loop body, by buffer.
class Groups {
  public:
    explicit Groups(const std::vector<BufferInfo> &buffers) : buffers_(&buffers) {}

    /// \param trips  of the loops around
    void add(const Access &access, const std::vector<double> &trips);
    void add(const Group &group);

    template <typename F> void for_each(F &&f) const {
        for (const auto &[buffer, groups] : groups_)
            for (const Group &g : groups)
                f(g);
    }

  private:
    const std::vector<BufferInfo> *buffers_;
    std::map<int, std::vector<Group>> groups_;
};

/// What the group touches while the loops of depth `from` and deeper run, if it touches any of it.
Footprint footprint(const Group &group, int from, const BufferInfo &buffer);

/// Of two groups of one buffer.
Footprint united(const Footprint &a, const Footprint &b);

}  // namespace Pipe::predict
