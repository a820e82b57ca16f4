#pragma once
// What the loops around a register block read again, and from which cache.

#include <array>
#include <vector>

#include "autoschedule/block_order.h"
#include "autoschedule/operand_box.h"

namespace Pipe::autoschedule {

constexpr size_t most_block_loops = 5;

/// One loop around the block: over its iterations along a dimension, or (-1) over parts of the RVar.
struct BlockLoop {
    int dim = -1;
    int64_t trips = 1;
    size_t place = 0;  ///< among all loops, those of one iteration as well
};

/// The loops around a block, innermost first, without those of one iteration.
struct BlockNest {
    std::array<BlockLoop, 2 * most_block_loops + 1> loops;
    size_t size = 0, all = 0;

    void add(BlockLoop loop) {
        loop.place = all++;
        if (loop.trips > 1)
            loops[size++] = loop;
    }
};

/// An operand that is read from a copy of it.
struct OperandCopy {
    const poly::Access *operand = nullptr;  ///< null: none is copied
    std::vector<int> order;                 ///< of the copy's dimensions, innermost first
    Covered held;                           ///< by one copy
};

/// Clocks per iteration of a block.
struct NearClocks {
    double near =
        0;  ///< for operands from beyond the L1 cache, or on more pages than the processor knows
    double apart = 0;  ///< for pieces of operands that do not follow one another
};

/// Of the blocks of one stage. `block` gives their sizes; what is asked about a block with loops may differ from it in these
/// loops, tiles and parts only. All arguments must outlive the object, and may change.
class BlockTraffic {
  public:
    BlockTraffic(const RegisterBlock &block, const BlockedStage &stage, const OperandCopy &copy)
        : block_(block), stage_(stage), copy_(copy),
          rvar_(static_cast<int>(stage.stage.rvars.size()) - 1) {}

    int64_t all_of_rvar() const { return stage_.stage.rvars[size_t(rvar_)]; }
    /// What one block covers, with one part of the RVar.
    Covered one_block(const RegisterBlock &b) const;
    /// What all iterations of the loop cover together, where one of them covers `covered`.
    void advance(const BlockLoop &loop, Covered &covered) const;
    /// Whether another iteration of the loop reads other elements.
    bool is_moved(const poly::Access &load, const BlockLoop &loop) const;

    double elements(const poly::Coordinate &c, const Covered &covered) const;
    /// What so many blocks and iterations read of an operand as it is given: its buffer holds no more than
    /// what is read in all.
    OperandBytes bytes_given(const poly::Access &load, const Covered &covered) const;
    /// The same of an operand, or of its copy.
    OperandBytes bytes(const poly::Access &load, const Covered &covered) const;
    /// What is read by `covered`, with the sums if they are not kept in registers.
    OperandBytes all_bytes(const Covered &covered, bool with_sums) const;

    double row_of_copy() const;
    /// Whether a copy stays in the L2 cache.
    bool copy_fits() const;

    NearClocks near_clocks(const RegisterBlock &b, const BlockNest &nest) const;
    /// Bytes from beyond the L2 cache: data that fits there while the inner loops run is read once for them,
    /// and again for each iteration of an outer loop that needs other data.
    double far_bytes(const RegisterBlock &b, const BlockNest &nest) const;

  private:
    const RegisterBlock &block_;
    const BlockedStage &stage_;
    const OperandCopy &copy_;
    const int rvar_;  // the outermost one

    double sum_bytes(const Covered &covered) const;
    /// Large memory of Funcs is on large pages (jit/runtime/arena.cpp).
    bool is_on_small_pages(const poly::Access &load) const;
    /// How many of the loops, innermost first, find in the L1 cache what their iteration before this one read; one
    /// more than there are if all that the loops read stays there.
    size_t loops_within_l1(Covered covered, const BlockNest &nest) const;
    /// What of an operand does not stay in the L1 cache, where so many loops find what they read before.
    double from_l2_per_block(const poly::Access &load, Covered covered, const BlockNest &nest,
                             size_t fits) const;
};

}  // namespace Pipe::autoschedule
