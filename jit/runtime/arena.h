#pragma once
// Arena: the scratch memory of one thread. A stack of blocks in a few large chunks, so that a tile
// needs no malloc and uses the same, cached memory as the previous tile. A block that is freed
// before those above it leaves a gap, which is reused by the next block that fits.

#include <cstddef>
#include <cstdint>
#include <vector>

namespace Pipe::runtime {

/// Larger allocations fail at once: the user address space of x86-64 has 47 bits.
inline constexpr int64_t impossible_bytes = int64_t(1) << 47;

class Arena {
  public:
    Arena() = default;
    ~Arena();
    Arena(const Arena &) = delete;
    Arena &operator=(const Arena &) = delete;

    /// A 64-byte aligned block; null if out of memory, or if more than `limit` bytes (0 = no limit)
    /// would be in use.
    void *push(int64_t bytes, int64_t limit);
    void pop(void *block);

    /// The number of blocks so far. pop_since: frees all later ones, for example after an error.
    int64_t mark() const { return pushed_; }
    void pop_since(int64_t mark);

    int64_t used() const { return used_; }
    /// Bytes allocated from the system.
    int64_t capacity() const { return capacity_; }
    /// The maximum in use since the last reset_peak().
    int64_t peak() const { return peak_; }
    void reset_peak(int64_t to) { peak_ = to; }

    /// Returns unused chunks to the system, until at most `keep_bytes` are left.
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
        int64_t number;  ///< number of earlier blocks
        bool free = false;
    };
    bool add_chunk(int64_t bytes);
    void *push_on_top(int64_t bytes);
    void *push_into_gap(int64_t bytes);
    void free_block(size_t i);

    std::vector<Chunk> chunks_;  ///< blocks lie in chunks 0 .. current_, in order
    std::vector<Block> blocks_;  ///< in order of their addresses; the last one is in use
    size_t current_ = 0;
    size_t gaps_ = 0;
    int64_t pushed_ = 0;
    int64_t used_ = 0, peak_ = 0;
    int64_t capacity_ = 0;  ///< of all chunks
};

}  // namespace Pipe::runtime
