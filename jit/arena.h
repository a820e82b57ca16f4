#pragma once
// Arena: the scratch memory of one thread. A stack of blocks in a few large chunks, so that a tile
// costs no malloc, and touches the same, cached memory as the tile before.

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
    /// Frees the block and all that were pushed after it.
    void pop(void *block);

    /// How much is in use: to come back to it after an error.
    size_t depth() const { return blocks_.size(); }
    void pop_to(size_t depth);

    int64_t used() const { return used_; }
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
    };
    bool add_chunk(int64_t bytes);
    void pop_last();

    std::vector<Chunk> chunks_;  ///< blocks lie in chunks 0 .. current_, in order
    std::vector<Block> blocks_;
    size_t current_ = 0;
    int64_t used_ = 0, peak_ = 0;
    int64_t capacity_ = 0;  ///< of all chunks
};

}  // namespace Pipe::jit
