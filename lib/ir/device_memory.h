#pragma once
// DeviceMemory: what an Allocation has on a device. Implemented by the run time (jit/runtime/gpu), which knows devices.

#include <cstdint>
#include <memory>
#include <string>

#include <pipe/device_interface.h>
#include <pipe/jit.h>

namespace Pipe::ir {

struct Allocation;

/// All functions are called with the mutex of the Allocation locked, and throw RuntimeError.
class DeviceMemory {
  public:
    /// Frees the memory, unless it was wrapped.
    virtual ~DeviceMemory() = default;

    virtual const DeviceInterface &interface() const = 0;
    /// Of the element that is at the Allocation's origin.
    virtual uint64_t address() const = 0;
    /// The user's memory (device_wrap_native).
    virtual bool wrapped() const = 0;
    /// A failure of the device took the memory with it.
    virtual bool lost() const = 0;
    /// Whether it lies on the device that a call with this context is for.
    virtual bool is_on(const DeviceInterface &interface, JITUserContext *context) const = 0;

    /// All elements of the Allocation. The copy to the host is complete on return.
    virtual void copy_to_device(const Allocation &allocation, JITUserContext *context) = 0;
    virtual void copy_to_host(const Allocation &allocation, JITUserContext *context) = 0;
    /// Waits for the work on it.
    virtual void synchronize(JITUserContext *context) = 0;
};

// Defined in jit/runtime/gpu. RuntimeError where there is no such device, or not enough memory; `who` begins its
// message.

std::unique_ptr<DeviceMemory> allocate_device_memory(const Allocation &allocation,
                                                     const DeviceInterface &interface,
                                                     JITUserContext *context,
                                                     const std::string &who);
/// `address`: of the element at the origin.
std::unique_ptr<DeviceMemory> wrap_device_memory(const Allocation &allocation,
                                                 const DeviceInterface &interface, uint64_t address,
                                                 JITUserContext *context, const std::string &who);

}  // namespace Pipe::ir
