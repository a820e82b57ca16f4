#pragma once
// Counts what the warps of a launch access: jit/runtime/gpu_abi.h's sites, jit/runtime/gpu/emulator.h's counters.

#include <cstdint>
#include <vector>

#include "jit/runtime/gpu/emulator.h"

namespace Pipe::runtime::emulator {

inline constexpr int warp_size = 32;
inline constexpr int64_t sector_bytes = 32;

/// A thread's accesses are paired with those of the other threads of its warp by their number since the last barrier.
class Counting {
  public:
    Counting(const GPUModule &module, const GPULaunch &launch, int64_t number);

    /// `sectors`: bits per sector of the allocation that begins at `begin`; null for other memory.
    void access(int64_t thread, int32_t site, uint64_t address, int32_t bytes, uint64_t begin,
                std::vector<uint8_t> *sectors);
    void redundant(int32_t site, int64_t bytes);
    /// All threads came to the barrier.
    void barrier(int32_t site) { result_.sites[static_cast<size_t>(site)].accesses++; }
    /// At a barrier, and at the end of a block.
    void end_epoch();

    EmulatorCounters finish();

  private:
    struct WarpAccess {
        uint32_t lanes = 0;  ///< bits
        int32_t bytes = 0;
        uint64_t address[warp_size];
    };
    void count(WarpAccess access, EmulatorSiteCounters &site);
    size_t slot(int64_t n, int32_t site) const {
        return static_cast<size_t>(n) * sites_.size() + static_cast<size_t>(site);
    }

    std::vector<GPUSite> sites_;
    EmulatorCounters result_;
    std::vector<uint32_t> executed_;                 ///< by thread and site, since the last barrier
    std::vector<std::vector<WarpAccess>> accesses_;  ///< by warp and site
    std::vector<size_t> used_;                       ///< which of accesses_ are not empty
    std::vector<std::vector<uint8_t> *> touched_;    ///< bits of allocations, to be cleared
    std::vector<int64_t> redundant_bytes_;
};

}  // namespace Pipe::runtime::emulator
