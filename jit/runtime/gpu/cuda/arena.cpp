#include "jit/runtime/gpu/cuda/arena.h"

#include <algorithm>
#include <bit>

namespace Pipe::runtime::cuda {

int64_t DeviceArena::block_bytes(int64_t bytes) {
    constexpr int64_t least = 512;
    if (bytes <= least)
        return least;
    // Steps of an eighth of the power of two below.
    const int64_t step = std::max<int64_t>(
        least, static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(bytes))) / 8);
    return (bytes + step - 1) / step * step;
}

CUdeviceptr DeviceArena::take(int64_t bytes, CUstream stream, const LaunchList *run) {
    const int64_t least = block_bytes(bytes), most = 2 * least;
    Block *best = nullptr;
    for (Block &b : blocks_)
        if (!b.used && b.bytes >= least && b.bytes <= most && (!b.stream || b.stream == stream) &&
            (!b.waiting || b.waiting == run) && (!best || b.bytes < best->bytes))
            best = &b;
    if (!best)
        return 0;
    best->used = true;
    best->stream = nullptr;
    best->waiting = nullptr;
    used_ += best->bytes;
    idle_ -= best->bytes;
    return best->address;
}

void DeviceArena::add(CUdeviceptr address, int64_t block_bytes) {
    blocks_.push_back({address, block_bytes, true});
    used_ += block_bytes;
}

bool DeviceArena::give(CUdeviceptr address, CUstream stream, const LaunchList *waiting) {
    auto block = std::find_if(blocks_.begin(), blocks_.end(),
                              [&](const Block &b) { return b.used && b.address == address; });
    if (block == blocks_.end())
        return false;
    block->used = false;
    block->stream = stream;
    block->waiting = waiting;
    used_ -= block->bytes;
    idle_ += block->bytes;
    return true;
}

void DeviceArena::submitted(const LaunchList *waiting) {
    for (Block &b : blocks_)
        if (b.waiting == waiting)
            b.waiting = nullptr;
}

void DeviceArena::synchronized(CUstream stream) {
    for (Block &b : blocks_)
        if (!b.waiting && (!stream || b.stream == stream))
            b.stream = nullptr;
}

size_t DeviceArena::largest_idle() const {
    size_t best = blocks_.size();
    for (size_t i = 0; i < blocks_.size(); i++)
        if (!blocks_[i].used && !blocks_[i].stream && !blocks_[i].waiting &&
            (best == blocks_.size() || blocks_[i].bytes > blocks_[best].bytes))
            best = i;
    return best;
}

}  // namespace Pipe::runtime::cuda
