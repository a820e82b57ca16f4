#pragma once
// Arena: the scratch memory of one thread. A stack of blocks in a few large chunks, so that a tile
// costs no malloc, and touches the same, cached memory as the tile before. A block that is freed before
// those above it leaves a gap, which the next block that fits into it takes.

#include <cstddef>
#include <cstdint>
#include <vector>

namespace Pipe::jit {

/// Bytes beyond any address space: a size that is wrong.
inline constexpr int64_t absurd = int64_t(1) << 47;

class Arena {
  public:
    Arena() = default;
    ~Arena();
    Arena(const Arena &) = delete;
    Arena &operator=(const Arena &) = delete;

    /// A 64-byte aligned block; null where memory is short or more than `limit` bytes (0 = no
    /// limit) would be in use.
    void *push(int64_t bytes, int64_t limit);
    void pop(void *block);

    /// Blocks so far. pop_since: frees all that came later, as after an error.
    int64_t mark() const { return pushed_; }
    void pop_since(int64_t mark);

    int64_t used() const { return used_; }
    /// Bytes that were taken of the system.
    int64_t capacity() const { return capacity_; }
    /// The most that was in use since the last reset_peak().
    int64_t peak() const { return peak_; }
    void reset_peak(int64_t to) { peak_ = to; }

    /// Gives chunks that no block is in back to the system, until `keep_bytes` are left.
    void trim(int64_t keep_bytes);

  private:
    struct Chunk {
        char *memory;
        int64_t size, used;
    };
    struct Block {
        char *memory;
        int64_t size;
        size_t chunk;
        int64_t number;  ///< how many were pushed before it
        bool free = false;
    };
    bool add_chunk(int64_t bytes);
    void *push_on_top(int64_t bytes);
    void *push_into_gap(int64_t bytes);
    void free_block(size_t i);

    std::vector<Chunk> chunks_;  ///< blocks lie in chunks 0 .. current_, in order
    std::vector<Block> blocks_;  ///< in the order of their addresses; the last one is in use
    size_t current_ = 0;
    size_t gaps_ = 0;
    int64_t pushed_ = 0;
    int64_t used_ = 0, peak_ = 0;
    int64_t capacity_ = 0;  ///< of all chunks
};

}  // namespace Pipe::jit
