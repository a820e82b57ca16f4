#pragma once
// What register blocks read of an operand, and where that lies in the caches.

#include <array>
#include <vector>

#include "autoschedule/register_block.h"
#include "support/cache_lines.h"

namespace Pipe::autoschedule {

constexpr size_t most_block_dims = 8;

/// Blocks along each dimension, and iterations of the outermost RVar.
struct Covered {
    std::array<int64_t, most_block_dims> blocks;
    int64_t part = 1;
};

/// Elements of one coordinate of an operand that so many blocks read, with so many iterations of an RVar left out. For Funcs of
/// at most `most_block_dims` dimensions.
double elements_of(const RegisterBlock &block, const poly::Coordinate &c, const Covered &covered,
                   int rvar, int64_t left_out);

/// The order of the dimensions of an operand's copy, innermost first: that of the vectors, those along which the RVars go,
/// the others.
std::vector<int> packed_order(const poly::Access &load, size_t rvars);

/// What is read of an operand.
struct OperandBytes {
    double moved = 0;  ///< bytes, to a cache
    /// The part of a cache that they take, in bytes: more where they crowd into few of its sets.
    double occupied = 0;
    double pages = 0;
    double pieces = 0;  ///< that do not follow one another
};

/// A box of an operand: per dimension, what is read of what the buffer holds.
class OperandBox {
  public:
    explicit OperandBox(int bytes_of_element);

    /// A further dimension, innermost first.
    void add(double count, double held);
    OperandBytes bytes() const;

  private:
    double element_, run_, distance_, runs_ = 1;
    bool whole_ = true;  // of the dimensions so far
    support::cache::Steps steps_;
};

}  // namespace Pipe::autoschedule
