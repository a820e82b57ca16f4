#pragma once
// Checks the accesses of a launch, and counts them. What is reported stands in jit/runtime/gpu/emulator.h.
//
// Each cell of the shadow memory knows its last writer and at most two of its readers. Those that it does not know are no
// loss: a forgotten reader is ordered before a known one of its block, and a forgotten writer was reported, stored the same
// value, or is one of several atomic operations, which are flagged. Nothing depends on the order in which threads run.

#include <algorithm>
#include <string>
#include <vector>

#include "jit/runtime/gpu/emulator.h"
#include "jit/runtime/gpu/emulator/counting.h"
#include "jit/runtime/gpu/emulator/memory.h"
#include "jit/runtime/gpu/emulator/timeline.h"

namespace Pipe::runtime::emulator {

/// A launch: what runs, and where its faults go.
struct Run {
    const GPUModule &module;
    const GPULaunch &launch;
    int64_t number;
    uint64_t seed;

    int64_t threads() const {
        return int64_t(1) * launch.threads[0] * launch.threads[1] * launch.threads[2];
    }
    int64_t blocks() const {
        return int64_t(1) * launch.blocks[0] * launch.blocks[1] * launch.blocks[2];
    }
};

class Checker {
  public:
    Checker(const Run &run, Memory &memory, Timeline &timeline, Shadow &shared_shadow,
            Counting *counting);

    /// `shared`: the block's shared memory.
    void begin_block(const void *shared);

    /// False: the access must not happen. `array`: null where the emulator knows the allocations.
    bool access(int64_t thread, int32_t site, uint64_t address, int32_t bytes, uint64_t array,
                int64_t array_bytes);
    /// The usual case in few instructions: a load or a store of one cell, with nothing to report. False: nothing was
    /// done.
    bool access_quickly(int32_t site, uint64_t address, int32_t bytes, uint64_t array,
                        int64_t array_bytes);
    /// The thread at hand comes to a barrier, or ends.
    void end_stretch() {
        if (pending_site_ >= 0)
            settle();
    }

    /// Threads of the block, by number: `thread` waits at `site`, `other` at `other_site`, or it has ended (-1).
    void divergent_barrier(int64_t thread, int32_t site, int64_t other, int32_t other_site);
    /// All threads came to this barrier, or ended (-1).
    void end_epoch(int32_t site);

    std::vector<EmulatorReport> &reports() { return reports_; }

  private:
    /// The memory that a site's accesses are in: an allocation, or the block's shared memory.
    struct Region {
        GPUSite::Kind kind = GPUSite::Load;
        bool is_shared = false;
        Stamp since =
            0;  ///< earlier accesses do not matter: the launch's begin; in shared memory, the block's
        uint64_t begin = 0;
        int64_t bytes = -1;  ///< -1: not known yet
        Shadow *shadow = nullptr;
        std::vector<uint8_t> *sectors = nullptr;
    };
    /// An access.
    struct Access {
        int32_t site;
        uint64_t address;
        int32_t bytes;
        const Region &region;
        uint64_t array;  ///< where indices begin
        int64_t array_bytes;

        int64_t offset_in_array(const Cell *cell) const {
            return region.shadow->offset_of(cell) + static_cast<int64_t>(region.begin - array);
        }
    };
    /// A store to a cell that an unordered thread has stored to: a race if the values differ, which is seen when the
    /// store has happened.
    struct Pending {
        uint64_t address;
        int64_t bytes;
        int64_t offset, array_bytes;  ///< in the array
        Stamp other;
        GPUSite::Kind other_kind;
        size_t before;  ///< in bytes_before_
    };

    const GPUSite &site_of(int32_t site) const { return run_.module.sites[site]; }
    bool find_region(const Access &access);

    void load(const Access &access, Shadow::Cells cells);
    void store(const Access &access, Shadow::Cells cells);
    void store_to_used(const Access &access, Shadow::Cells cells);
    void atomic(const Access &access, Shadow::Cells cells);
    void add_reader(Stamp since, Cell &cell) const;
    /// Shared memory is new in each block, global memory after its allocation.
    static bool is_new(const Region &region, const Cell &cell) {
        return cell.writer < (region.is_shared ? region.since : before_all);
    }
    bool is_unordered(const Access &access, Stamp stamp) const {
        return timeline_.is_unordered(stamp, access.region.since);
    }
    bool conflicts_with_writer(const Access &access, Stamp writer) const;
    void add_pending(const Access &access, const Cell &cell, Stamp other, GPUSite::Kind other_kind);
    void settle();

    void report_access(EmulatorReport::Kind kind, const Access &access, int64_t offset);
    void report_race(int32_t site, int64_t offset, int64_t array_bytes, Stamp other,
                     GPUSite::Kind other_kind);
    void add(EmulatorReport report);
    void add(EmulatorReport report, const EmulatorReport::Thread &thread);
    EmulatorReport::Thread thread_at(Stamp stamp) const;
    EmulatorReport::Thread thread_at(Timeline::Place place) const;

    const Run &run_;
    Memory &memory_;
    Timeline &timeline_;
    Shadow &shared_shadow_;
    Counting *counting_;
    std::vector<Region> regions_;  ///< by site
    int32_t pending_site_ = -1;  ///< of all that are pending: until the next access of another site
    std::vector<Pending> pending_;
    std::vector<char> bytes_before_;
    std::vector<EmulatorReport> reports_;
};

inline void Checker::add_reader(Stamp since, Cell &cell) const {
    const Stamp now = timeline_.now();
    const Stamp own = cell.writer >= since ? Cell::own : 0;
    if ((cell.reader ^ now) >> stamp_bits == 0) {
        // The flag holds for all loads of this stretch.
        cell.reader = (now | own) & (cell.reader | ~Cell::own);
        return;
    }
    if (timeline_.is_unordered(cell.reader, since) &&
        !timeline_.in_other_block(cell.other_reader, since))
        cell.other_reader = cell.reader;
    cell.reader = now | own;
}

inline bool Checker::access_quickly(int32_t site, uint64_t address, int32_t bytes, uint64_t array,
                                    int64_t array_bytes) {
    const Region &region = regions_[static_cast<size_t>(site)];
    const auto size = static_cast<uint64_t>(bytes);
    const uint64_t offset = address - region.begin;
    if (region.bytes < bytes || offset > static_cast<uint64_t>(region.bytes) - size)
        return false;
    if (array &&
        (array_bytes < bytes || address - array > static_cast<uint64_t>(array_bytes) - size))
        return false;
    Cell *cell = region.shadow->only_cell(static_cast<int64_t>(offset), bytes);
    if (!cell || counting_ || pending_site_ >= 0)
        return false;
    const Stamp writer = cell->writer;
    if (region.kind == GPUSite::Store) {
        if (std::max({writer, cell->reader, cell->other_reader}) >= region.since)
            return false;
        cell->writer = timeline_.now();
        return true;
    }
    if (region.kind != GPUSite::Load || (writer & Cell::flags) ||
        timeline_.is_unordered(writer, region.since) || is_new(region, *cell))
        return false;
    if (writer != timeline_.now())
        add_reader(region.since, *cell);
    return true;
}

}  // namespace Pipe::runtime::emulator
