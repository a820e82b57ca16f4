#pragma once
// DeviceArena: the blocks of memory that a device has given us. cuMemAlloc and cuMemFree wait for the whole device, so
// blocks are kept for later use.
//
// Work on a block may still be queued when it is freed. Until its stream is synchronized, only work in the same stream
// may use it again. As long as such work waits in a run (LaunchList), and is in no stream yet, only that run may.

#include <cstdint>
#include <vector>

#include "jit/runtime/gpu/cuda/driver.h"

namespace Pipe::runtime {
class LaunchList;
}

namespace Pipe::runtime::cuda {

class DeviceArena {
  public:
    /// What is asked of the driver for so many bytes: a little more, so that sizes repeat.
    static int64_t block_bytes(int64_t bytes);

    /// An idle block for work in `stream`, by the run with these launches; 0 where none fits.
    CUdeviceptr take(int64_t bytes, CUstream stream, const LaunchList *run = nullptr);
    /// A new block, which is in use.
    void add(CUdeviceptr address, int64_t block_bytes);
    /// The block is idle, after the work that is in `stream` now (null: at once), and after that which `waiting` has now.
    /// False where there is no such block in use.
    bool give(CUdeviceptr address, CUstream stream, const LaunchList *waiting = nullptr);
    /// What waited is in its stream.
    void submitted(const LaunchList *waiting);
    /// All work in the stream (null: in all of them) is done.
    void synchronized(CUstream stream);

    /// Removes idle blocks that no work is queued on, the largest first, until those left have at
    /// most `bytes`; calls free(address) for each.
    template <typename Free> void trim(int64_t bytes, const Free &free) {
        while (idle_ > bytes) {
            const size_t i = largest_idle();
            if (i == blocks_.size())
                return;
            const Block block = blocks_[i];
            idle_ -= block.bytes;
            blocks_.erase(blocks_.begin() + static_cast<std::ptrdiff_t>(i));
            free(block.address);
        }
    }
    /// The memory is gone.
    void clear() { *this = DeviceArena(); }

    int64_t used_bytes() const { return used_; }
    int64_t idle_bytes() const { return idle_; }

  private:
    struct Block {
        CUdeviceptr address = 0;
        int64_t bytes = 0;
        bool used = false;
        CUstream stream = nullptr;            ///< of an idle one: where work may be queued
        const LaunchList *waiting = nullptr;  ///< the same for work that is in no stream yet
    };
    size_t largest_idle() const;

    std::vector<Block> blocks_;
    int64_t used_ = 0, idle_ = 0;
};

}  // namespace Pipe::runtime::cuda
