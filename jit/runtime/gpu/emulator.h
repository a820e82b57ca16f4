#pragma once
// The emulated GPU: runs kernels that were compiled for the host, and checks every access of theirs.
//
// The blocks of a launch run one after the other, each thread as a fiber: it runs until it comes to a barrier or ends. The
// order of blocks, and that of threads after each barrier, vary from launch to launch, as a seed says.
//
// What is reported (as a RuntimeError of launch(), and by take_reports()), at the granularity of bytes:
// * races: two accesses to one byte of shared or global memory, at least one a store, that no barrier orders. Blocks of
//   one launch are never ordered, launches are. Atomic operations do not race with each other. Threads that store the
//   same value, as tails of loops that are rounded up do, do not race, and are counted (`redundant`);
// * loads of what was never written: shared memory is new in each block, global memory by allocate();
// * accesses outside of an array or an allocation, or to memory that was freed. The block ends there, the others run;
// * barriers that not all threads of a block come to.
//
// Kernels that were compiled without checks run as they are: nothing is reported, and blocks run on several threads.

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "jit/runtime/gpu/device.h"

namespace Pipe::runtime {

/// A fault of a kernel. The same one, at the same sites, is reported once per launch, with the first pair of threads.
struct EmulatorReport {
    enum Kind { Race, NeverWritten, OutOfBounds, Freed, DivergentBarrier };
    struct Thread {
        std::array<int32_t, 3> thread{}, block{};
        bool operator==(const Thread &) const = default;
    };

    Kind kind = Race;
    std::string pipeline, kernel;
    int64_t launch = 0;  ///< the device's launches, from 1
    int32_t site = 0;    ///< of `thread`'s access or barrier
    std::string buffer;  ///< "" for barriers
    GPUSite::Kind access = GPUSite::Load;
    GPUSite::Memory memory = GPUSite::Global;
    int64_t element = 0, elements = 0;  ///< index in the array or allocation, and how many it has
    Thread thread;
    /// Race: the earlier access, of `other`. DivergentBarrier: `other` waits at `other_site`, or has ended (-1).
    Thread other;
    GPUSite::Kind other_access = GPUSite::Load;
    int32_t other_site = -1;
    int64_t count = 1;  ///< how often in this launch

    /// One sentence.
    std::string text() const;
    /// The same for an Error, with its fields marked (support/error_text.h).
    std::string marked_text() const;
};

/// What a launch did at one site. Warps are 32 threads with consecutive numbers; the accesses of a warp are its threads'
/// k-th ones at the site since the last barrier.
struct EmulatorSiteCounters {
    int32_t site = 0;
    std::string buffer;  ///< "" for barriers
    GPUSite::Kind kind = GPUSite::Load;
    GPUSite::Memory memory = GPUSite::Global;
    int64_t accesses = 0;       ///< by threads; of a barrier: how often a block came to it
    int64_t warp_accesses = 0;  ///< by warps; one of more than 16 bytes for each thread is several
    /// Global memory: different 32-byte sectors of each access by a warp, added up.
    int64_t sectors = 0;
    /// Shared memory: accesses of 32 banks of 4 bytes that are needed beyond those that so many bytes need at least.
    int64_t bank_replays = 0;
    /// Elements that were stored with the value that an unordered thread had stored there.
    int64_t redundant = 0;
};

struct EmulatorCounters {
    std::string pipeline, kernel;
    int64_t launch = 0;
    std::array<int32_t, 3> blocks{}, threads{};
    int64_t shared_bytes = 0;                 ///< per block
    std::vector<EmulatorSiteCounters> sites;  ///< that threads came to
    /// Different sectors of global memory that the launch loads or writes: each once is the least that it can do. (One
    /// that is loaded at two sites counts once, one that is loaded and written twice.)
    int64_t compulsory_sectors = 0;

    /// Sums over the sites.
    int64_t sectors() const, bank_replays() const, barriers() const, redundant() const;
};

class EmulatedDevice final : public Device {
  public:
    EmulatedDevice();
    ~EmulatedDevice() override;

    std::string name() const override;
    uint64_t allocate(int64_t bytes, DeviceQueue queue) override;
    void free(uint64_t address, DeviceQueue queue) noexcept override;
    void copy_to_device(uint64_t to, const void *from, const Rows &rows,
                        DeviceQueue queue) override;
    void copy_to_host(void *to, uint64_t from, const Rows &rows, DeviceQueue queue) override;
    /// Returns when the kernel has ended.
    void launch(GPUModule &module, const GPULaunch &launch, void *const *params,
                DeviceQueue queue) override;
    void synchronize(DeviceQueue) override {}
    void unload(GPUModule &) noexcept override {}

    /// Of the order of blocks and threads in later launches.
    void set_seed(uint64_t seed);

    /// The faults since the last call; at most the first 256.
    std::vector<EmulatorReport> take_reports();

    /// From here on, launches with checks are counted.
    void start_counting();
    /// One for each launch since then.
    std::vector<EmulatorCounters> stop_counting();

    /// Bytes that are allocated.
    int64_t allocated_bytes() const;

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

/// The one of this process.
EmulatedDevice &emulated_device();

}  // namespace Pipe::runtime
