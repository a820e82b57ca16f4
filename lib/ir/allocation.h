#pragma once
// Allocation: the memory of a Buffer, on the host and on a device, and which of the two has the newer elements. All
// handles, crops and slices of the Buffer share it; each handle has a shape and an offset of its own.

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "ir/device_memory.h"
#include <pipe/raw_buffer.h>

namespace Pipe::ir {

struct Allocation : MemoryFlags, std::enable_shared_from_this<Allocation> {
    Allocation() = default;
    Allocation(const Allocation &) = delete;

    /// The origin: the element that was at the minimum of all coordinates when the memory was
    /// allocated or wrapped. Null: there is none on the host.
    uint8_t *host = nullptr;
    std::shared_ptr<void> owned;  ///< the memory of the host; null: it is the caller's
    int64_t begin = 0, end = 0;   ///< bytes from the origin to all elements
    /// Which elements of [begin, end) there are, where that is not all of them.
    std::vector<BufferDim> shape;
    int64_t element_bytes = 1;

    mutable std::mutex mutex;              ///< of what follows, and of changes of the flags
    std::unique_ptr<DeviceMemory> device;  ///< flag has_device: not null

    bool covered_by(int64_t first, int64_t last) const { return first <= begin && last >= end; }

    // With the mutex locked. `who`: the Buffer, in messages.

    /// Host and device have no longer different elements; RuntimeError where the newest are lost.
    void drop_lost_device(const std::string &who);
    void newest_to_host(JITUserContext *context, const std::string &who);
    void newest_to_device(JITUserContext *context);
    /// Without a look at what is newer.
    void drop_device();
};

/// A Buffer's part of its Allocation, as pipelines are given it.
struct AllocationPart {
    std::shared_ptr<Allocation> allocation;
    int64_t offset = 0;  ///< bytes from the origin to the element at the minimum of all coordinates
};

}  // namespace Pipe::ir
