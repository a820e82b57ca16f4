// Memory of Buffers on devices.

#include <pipe/buffer.h>

#include "ir/allocation.h"
#include "ir/buffer_layout.h"

namespace Pipe {

using ir::Allocation;
using ir::describe;
using ir::fail_buffer;

namespace ir {

void Allocation::drop_device() {
    device.reset();
    set(RawBuffer::has_device_flag, false);
    set(RawBuffer::device_dirty_flag, false);
}

void Allocation::drop_lost_device(const std::string &who) {
    if (!device || !device->lost())
        return;
    const bool newest = get(RawBuffer::device_dirty_flag);
    drop_device();
    if (newest)
        fail_buffer(
            who, "its newest elements were on a device whose memory was lost when a kernel failed. "
                 "Compute them again; the Buffer has the older elements of the host");
}

void Allocation::newest_to_host(JITUserContext *context, const std::string &who) {
    drop_lost_device(who);
    if (!get(RawBuffer::device_dirty_flag))
        return;
    if (!device)
        fail_buffer(who, "its flag device_dirty is set, but it has no memory on a device. Call "
                         "set_device_dirty(false) on its raw_buffer()");
    if (!host)
        fail_buffer(who, "it has memory only on a device. Create a Buffer with host memory, wrap "
                         "the same device "
                         "memory with its device_wrap_native(), and call its copy_to_host()");
    device->copy_to_host(*this, context);
    set(RawBuffer::device_dirty_flag, false);
}

void Allocation::newest_to_device(JITUserContext *context) {
    if (!get(RawBuffer::host_dirty_flag) || !host)
        return;
    device->copy_to_device(*this, context);
    set(RawBuffer::host_dirty_flag, false);
}

}  // namespace ir

namespace {

void require_interface(const BufferBase &buffer, const DeviceInterface *interface) {
    if (interface != &cuda_device_interface && interface != &cuda_emulator_device_interface)
        fail_buffer(describe(buffer),
                    "a DeviceInterface that is unknown was given. Give &cuda_device_interface "
                    "or &cuda_emulator_device_interface");
}

}  // namespace

const DeviceInterface &device_interface_of(DeviceAPI api, const Target &target,
                                           const char *error_site) {
    if (api != DeviceAPI::CUDA && api != DeviceAPI::Default_GPU)
        throw RuntimeError(
            std::string(error_site ? error_site : "get_device_interface_for_device_api") +
            ": kernels are made for CUDA only. Give DeviceAPI::CUDA.");
    const Target t =
        target.arch == Target::ArchUnknown && !target.has_cuda() ? get_host_target() : target;
    return t.has_feature(Target::CUDAEmulator) ? cuda_emulator_device_interface
                                               : cuda_device_interface;
}

/// After the user may have put another address into raw_buffer().
ir::AllocationPart BufferBase::allocation() const {
    Contents &c = contents();
    const uint8_t *place = c.allocation->host ? c.allocation->host + c.offset : nullptr;
    if (c.raw.host != place)
        c.set_allocation(
            ir::allocation_of(c.raw, ir::checked_span(describe(*this), type(), view().dims)), 0);
    return {c.allocation, c.offset};
}

RawBuffer *BufferBase::raw_buffer() const {
    if (!defined())
        return nullptr;
    RawBuffer &raw = contents_->raw;
    Allocation &a = *contents_->allocation;
    if (raw.device == 0 && !a.get(RawBuffer::has_device_flag))
        return &raw;
    std::lock_guard lock(a.mutex);
    raw.device = a.device ? a.device->address() + static_cast<uint64_t>(contents_->offset) : 0;
    raw.device_interface = a.device ? &a.device->interface() : nullptr;
    return &raw;
}

void BufferBase::set_device_dirty(bool dirty) const {
    if (dirty && !has_device_allocation())
        fail_buffer(describe(*this),
                    "set_device_dirty: it has no memory on a device. Call device_malloc(), "
                    "copy_to_device() or device_wrap_native() first");
    contents().raw.set_device_dirty(dirty);
}

int BufferBase::device_malloc(const DeviceInterface *interface, JITUserContext *context) const {
    require_interface(*this, interface);
    const std::string who = describe(*this);
    if (is_bounds_query())  // it may have got another shape since it was made
        contents().set_allocation(
            ir::allocation_of(contents().raw, ir::checked_span(who, type(), view().dims)), 0);
    const std::shared_ptr<Allocation> a = allocation().allocation;
    std::lock_guard lock(a->mutex);
    a->drop_lost_device(who);
    if (a->device && a->device->is_on(*interface, context))
        return 0;
    if (a->device && a->device->wrapped())
        fail_buffer(who, "device_malloc: it has the caller's memory on another device. Call "
                         "device_detach_native() first");
    a->newest_to_host(context, who);
    a->drop_device();
    a->device = ir::allocate_device_memory(*a, *interface, context, who);
    a->set(RawBuffer::has_device_flag, true);
    a->set(RawBuffer::host_dirty_flag, a->host != nullptr);
    return 0;
}

int BufferBase::copy_to_device(const DeviceInterface *interface, JITUserContext *context) const {
    device_malloc(interface, context);
    Allocation &a = *contents().allocation;
    std::lock_guard lock(a.mutex);
    if (a.device)
        a.newest_to_device(context);
    return 0;
}

int BufferBase::copy_to_host(JITUserContext *context) const {
    Contents &c = contents();
    if (!c.raw.device_dirty())
        return 0;
    std::lock_guard lock(c.allocation->mutex);
    c.allocation->newest_to_host(context, describe(*this));
    return 0;
}

int BufferBase::device_sync(JITUserContext *context) const {
    Allocation &a = *contents().allocation;
    std::lock_guard lock(a.mutex);
    if (a.device && !a.device->lost())
        a.device->synchronize(context);
    return 0;
}

int RawBuffer::device_sync(JITUserContext *context) const {
    if (!flags.memory())
        return 0;
    Allocation &a = *static_cast<Allocation *>(flags.memory());
    std::lock_guard lock(a.mutex);
    if (a.device && !a.device->lost())
        a.device->synchronize(context);
    return 0;
}

int BufferBase::device_free(JITUserContext *) const {
    if (!defined())
        return 0;
    Allocation &a = *contents().allocation;
    std::lock_guard lock(a.mutex);
    if (a.device && a.device->wrapped())
        fail_buffer(describe(*this),
                    "device_free: the device memory is the caller's (device_wrap_native). Call "
                    "device_detach_native()");
    a.drop_device();
    return 0;
}

int BufferBase::device_wrap_native(const DeviceInterface *interface, uint64_t handle,
                                   JITUserContext *context) const {
    require_interface(*this, interface);
    const std::string who = describe(*this);
    const ir::ElementSpan span = ir::checked_span(who, type(), view().dims);
    if (is_bounds_query())
        contents().set_allocation(ir::allocation_of(contents().raw, span), 0);
    const auto [a, offset] = allocation();
    const auto bytes = int64_t{type().bytes()};
    std::lock_guard lock(a->mutex);
    a->drop_lost_device(who);
    if (a->device)
        fail_buffer(who, "device_wrap_native: it has memory on a device. Call device_free() or "
                         "device_detach_native() first");
    if (handle == 0)
        fail_buffer(who, "device_wrap_native: the address is 0");
    if (!span.empty && !a->covered_by(offset + span.low * bytes, offset + (span.high + 1) * bytes))
        fail_buffer(who, "device_wrap_native: it is a part of a larger Buffer. Wrap the memory "
                         "with that one, or "
                         "with a Buffer of its own");
    a->device = ir::wrap_device_memory(*a, *interface, handle - static_cast<uint64_t>(offset),
                                       context, who);
    a->set(RawBuffer::has_device_flag, true);
    return 0;
}

int BufferBase::device_detach_native(JITUserContext *) const {
    Allocation &a = *contents().allocation;
    std::lock_guard lock(a.mutex);
    if (a.device && !a.device->wrapped())
        fail_buffer(describe(*this),
                    "device_detach_native: its device memory was not wrapped. Call device_free()");
    a.drop_device();
    return 0;
}

}  // namespace Pipe
