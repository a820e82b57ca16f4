#pragma once
// ResidentMemory: device memory that a Buffer keeps.

#include "ir/allocation.h"
#include "jit/runtime/gpu/device.h"

namespace Pipe::runtime {

class ResidentMemory final : public ir::DeviceMemory {
  public:
    /// Allocates where `wrapped` is 0; else that is the user's memory at the origin.
    ResidentMemory(const ir::Allocation &allocation, const DeviceInterface &interface,
                   Device &device, uint64_t wrapped);
    ~ResidentMemory() override;

    const DeviceInterface &interface() const override { return interface_; }
    uint64_t address() const override { return origin_; }
    bool wrapped() const override { return base_ == 0; }
    bool lost() const override { return generation_ != device_.generation(); }
    bool is_on(const DeviceInterface &interface, JITUserContext *context) const override;
    void copy_to_device(const ir::Allocation &allocation, JITUserContext *context) override;
    void copy_to_host(const ir::Allocation &allocation, JITUserContext *context) override;
    void synchronize(JITUserContext *context) override;

    Device &device() const { return device_; }
    void copy_to_device(const ir::Allocation &allocation, DeviceQueue queue);
    void copy_to_host(const ir::Allocation &allocation, DeviceQueue queue);
    /// Before work in the queue: waits for what other streams of the user's may still do here.
    void begin_use(DeviceQueue queue);
    /// Work was put into the queue that nobody waits for.
    void used_in(DeviceQueue queue) {
        if (!queue.own && queue.stream)
            users_stream_ = queue.stream;
    }

  private:
    const DeviceInterface &interface_;
    Device &device_;
    uint64_t generation_ = 0;
    uint64_t base_ = 0;  ///< what was allocated; 0: the user's
    uint64_t origin_ = 0;
    void *users_stream_ = nullptr;  ///< where work may be queued
};

/// Opens a queue of the device for as long as it lives.
class OpenQueue {
  public:
    OpenQueue(Device &device, const JITUserContext *user)
        : device_(device), queue_(device.open_queue(user ? user->cuda_stream : nullptr)) {}
    ~OpenQueue() { device_.close_queue(queue_); }
    OpenQueue(const OpenQueue &) = delete;
    operator DeviceQueue() const { return queue_; }

  private:
    Device &device_;
    const DeviceQueue queue_;
};

}  // namespace Pipe::runtime
