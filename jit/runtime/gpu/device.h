#pragma once
// What runs kernels: a GPU through the CUDA driver (jit/runtime/gpu/cuda), or the emulator (jit/runtime/gpu/emulator).

#include <cstdint>
#include <string>

#include "jit/runtime/gpu_abi.h"

namespace Pipe::runtime {

class LaunchList;

/// Where the work of one run goes: copies and launches in one queue run in order.
struct DeviceQueue {
    void *stream = nullptr;  ///< CUstream; null: the device's own. The emulator has none.
    bool own = false;        ///< made by open_queue, not given by the user
    /// Launches that come after all work in the queue, and before whatever is done with the queue next. Null: none wait.
    LaunchList *waiting = nullptr;
};

/// Number of bytes in a row, and of rows, of copies that leave out what lies between rows.
struct Rows {
    int64_t bytes = 0, count = 1, pitch = 0;  ///< pitch: from row to row, the same on both sides
};

/// A device. All functions may be called from several threads at once, and throw RuntimeError, which names what was
/// tried, the device, and what the driver answered.
class Device {
  public:
    virtual ~Device() = default;
    /// "NVIDIA H100 (CUDA device 0)"
    virtual std::string name() const = 0;

    /// For one run, or one copy of a Buffer: a queue of its own, or the user's stream where that is not
    /// null. While one is open, the memory of the device stays what it is.
    virtual DeviceQueue open_queue(void *users_stream) { return {users_stream}; }
    /// Waits for the work in it, unless it is the user's.
    virtual void close_queue(DeviceQueue) noexcept {}
    /// Another number after the device's memory has been lost: addresses from before mean nothing.
    virtual uint64_t generation() const { return 0; }
    /// Gives back the memory that is kept for later allocations.
    virtual void release_memory() noexcept {}

    virtual uint64_t allocate(int64_t bytes, DeviceQueue queue) = 0;
    /// Work in the queue may still use it.
    virtual void free(uint64_t address, DeviceQueue queue) noexcept = 0;

    /// The host's elements may be changed after a copy to the device once the queue is synchronized,
    /// or at once where the operating system may page them out. A copy to the host is complete when
    /// the function returns.
    virtual void copy_to_device(uint64_t to, const void *from, const Rows &rows,
                                DeviceQueue queue) = 0;
    virtual void copy_to_host(void *to, uint64_t from, const Rows &rows, DeviceQueue queue) = 0;

    virtual void launch(GPUModule &module, const GPULaunch &launch, void *const *params,
                        DeviceQueue queue) = 0;
    /// Whether launches are faster together: they may wait in the queue then.
    virtual bool launches_together() const { return false; }
    /// Launches those that wait in the queue. So does every other function here that puts work into it or waits for it.
    /// After an error none wait any more.
    virtual void submit(DeviceQueue) {}
    /// For profiles: a point in the work of the queue; 0: the device has no clock, and a launch returns when it is done.
    virtual uint64_t mark_time(DeviceQueue) { return 0; }
    /// Milliseconds from one to another, both of which the work has passed.
    virtual double milliseconds_between(uint64_t, uint64_t) { return 0; }
    virtual void free_time(uint64_t) noexcept {}

    /// Waits until all work in the queue is done; of the queue without a stream, all work of the
    /// device. RuntimeError where some of it failed.
    virtual void synchronize(DeviceQueue queue) = 0;
    /// Before the code of a module is freed.
    virtual void unload(GPUModule &module) noexcept = 0;
};

}  // namespace Pipe::runtime
