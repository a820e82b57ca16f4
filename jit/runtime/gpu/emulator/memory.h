#pragma once
// The memory of the emulated GPU: allocations, and a shadow of each with what is known of its bytes.

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <vector>

#include "jit/runtime/gpu/device.h"
#include "jit/runtime/gpu/emulator/timeline.h"

namespace Pipe::runtime::emulator {

/// The accesses to some bytes.
struct Cell {
    // In the low bits of `writer`.
    static constexpr Stamp atomic = 1;
    static constexpr Stamp atomic_blocks = 2;   ///< as did threads of other blocks of the launch,
    static constexpr Stamp atomic_threads = 4;  ///< and others of the block since its last barrier
    static constexpr Stamp flags = 7;
    // In those of readers: what was read was stored in the same launch, and ordered before.
    static constexpr Stamp own = 1;

    Stamp writer = never;
    /// The last reader, and one that is not ordered with it, if there is one: rather of another block.
    Stamp reader = never, other_reader = never;
};

/// One cell for so many bytes as are always accessed together.
class Shadow {
  public:
    struct Cells {
        Cell *begin, *end;
    };

    /// Nothing is written.
    void reset(int64_t bytes);
    bool empty() const { return !cells_; }

    Cells at(int64_t offset, int64_t bytes) {
        if (((offset | bytes) & (cell_bytes() - 1)) != 0)
            bytes = align(offset, bytes);
        Cell *first = cells_.get() + (offset >> shift_);
        return {first, first + (bytes >> shift_)};
    }
    /// Null unless they are one cell.
    Cell *only_cell(int64_t offset, int64_t bytes) const {
        return bytes == cell_bytes() && (offset & (bytes - 1)) == 0
                   ? cells_.get() + (offset >> shift_)
                   : nullptr;
    }
    int64_t cell_bytes() const { return int64_t(1) << shift_; }
    int64_t offset_of(const Cell *cell) const { return (cell - cells_.get()) << shift_; }

    /// As the host does.
    void set_written(int64_t offset, int64_t bytes);
    /// Who wrote and read; what was written stays so.
    void forget_stamps();

  private:
    struct Free {
        void operator()(Cell *cells) const;
    };
    using Memory = std::unique_ptr<Cell, Free>;
    static Memory make(int64_t cells);
    int64_t count() const { return (bytes_ + cell_bytes() - 1) >> shift_; }
    int64_t align(int64_t offset, int64_t bytes);
    void refine(int64_t alignment);

    static constexpr int coarsest = 4;
    int shift_ = coarsest;
    int64_t bytes_ = 0;
    Memory cells_;
};

struct Allocation {
    uint64_t begin = 0;
    int64_t bytes = 0;
    char *mapping = nullptr;
    size_t mapping_bytes = 0;

    /// Made at the first access by a kernel with checks.
    Shadow &shadow();
    void set_written(int64_t offset, const Rows &rows);
    /// By a kernel without checks: anything may be written.
    void set_all_written();
    void forget_stamps();

    /// Bits per sector, for EmulatorCounters::compulsory_sectors.
    std::vector<uint8_t> sectors;

  private:
    struct Written {
        int64_t offset;
        Rows rows;
    };
    Shadow shadow_;
    std::vector<Written> written_;  ///< before there is a shadow
};

class Memory {
  public:
    Memory() = default;
    ~Memory();
    Memory(const Memory &) = delete;

    /// Null where the host has no memory for it.
    Allocation *allocate(int64_t bytes);
    void free(uint64_t address);
    /// The allocation that the address is in, or of those before it and after it the nearest one; null if there is none.
    Allocation *nearest(uint64_t address);
    /// The one that has all these bytes, or null.
    Allocation *find(uint64_t address, int64_t bytes);
    /// Was freed not long ago.
    const Allocation *find_freed(uint64_t address) const;

    int64_t allocated_bytes() const { return bytes_; }
    auto &allocations() { return allocations_; }

  private:
    void unmap_freed(size_t keep);
    std::map<uint64_t, std::unique_ptr<Allocation>> allocations_;
    std::deque<std::unique_ptr<Allocation>>
        freed_;  ///< addresses that are not used again for a while
    int64_t bytes_ = 0;
};

}  // namespace Pipe::runtime::emulator
