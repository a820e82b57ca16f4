#include "jit/runtime/gpu/resident.h"

#include "jit/runtime/gpu/devices.h"
#include "jit/runtime/gpu/rows.h"

namespace Pipe::runtime {

namespace {

/// Calls copy(offset from the origin, rows) for all elements.
template <typename Copy> void for_each_rows(const ir::Allocation &a, const Copy &copy) {
    if (a.end <= a.begin)
        return;
    if (a.shape.empty())
        return copy(a.begin, Rows{a.end - a.begin, 1, 0});
    for_each_rows(
        plan_rows(steps_of(a.shape.data(), a.shape.size(), a.element_bytes), a.element_bytes),
        copy);
}

}  // namespace

ResidentMemory::ResidentMemory(const ir::Allocation &allocation, const DeviceInterface &interface,
                               Device &device, uint64_t wrapped)
    : interface_(interface), device_(device), origin_(wrapped) {
    OpenQueue queue(device, nullptr);  // after a loss, the device starts anew here
    generation_ = device.generation();
    if (wrapped)
        return;
    base_ = device.allocate(allocation.end - allocation.begin, queue);
    origin_ = base_ - static_cast<uint64_t>(allocation.begin);
}

ResidentMemory::~ResidentMemory() {
    if (base_ != 0 && !lost())
        device_.free(base_, {users_stream_});
}

bool ResidentMemory::is_on(const DeviceInterface &interface, JITUserContext *context) const {
    return &interface == &interface_ && (interface.emulated || !names_device(context) ||
                                         &device_of(interface, context) == &device_);
}

void ResidentMemory::begin_use(DeviceQueue queue) {
    if (!users_stream_ || users_stream_ == queue.stream)
        return;
    device_.synchronize({});  // that stream may have been destroyed
    users_stream_ = nullptr;
}

void ResidentMemory::copy_to_device(const ir::Allocation &allocation, DeviceQueue queue) {
    begin_use(queue);
    for_each_rows(allocation, [&](int64_t offset, const Rows &rows) {
        device_.copy_to_device(origin_ + static_cast<uint64_t>(offset), allocation.host + offset,
                               rows, queue);
    });
    used_in(queue);
}

void ResidentMemory::copy_to_host(const ir::Allocation &allocation, DeviceQueue queue) {
    begin_use(queue);
    for_each_rows(allocation, [&](int64_t offset, const Rows &rows) {
        device_.copy_to_host(allocation.host + offset, origin_ + static_cast<uint64_t>(offset),
                             rows, queue);
    });
}

void ResidentMemory::copy_to_device(const ir::Allocation &allocation, JITUserContext *context) {
    copy_to_device(allocation, OpenQueue(device_, context));
}

void ResidentMemory::copy_to_host(const ir::Allocation &allocation, JITUserContext *context) {
    copy_to_host(allocation, OpenQueue(device_, context));
}

void ResidentMemory::synchronize(JITUserContext *) {
    device_.synchronize({});
    users_stream_ = nullptr;
}

}  // namespace Pipe::runtime

namespace Pipe::ir {

std::unique_ptr<DeviceMemory> allocate_device_memory(const Allocation &allocation,
                                                     const DeviceInterface &interface,
                                                     JITUserContext *context,
                                                     const std::string &who) {
    return wrap_device_memory(allocation, interface, 0, context, who);
}

std::unique_ptr<DeviceMemory> wrap_device_memory(const Allocation &allocation,
                                                 const DeviceInterface &interface, uint64_t address,
                                                 JITUserContext *context, const std::string &who) {
    try {
        return std::make_unique<runtime::ResidentMemory>(
            allocation, interface, runtime::device_of(interface, context), address);
    } catch (const RuntimeError &error) {
        throw RuntimeError(who + ": " + error.what());
    }
}

}  // namespace Pipe::ir
