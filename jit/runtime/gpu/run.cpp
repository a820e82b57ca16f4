#include "jit/runtime/gpu/run.h"

#include <algorithm>
#include <chrono>
#include <cstring>

#include <fmt/format.h>

#include "ir/buffer_layout.h"
#include "jit/runtime/gpu/describe.h"
#include "jit/runtime/gpu/resident.h"
#include "jit/runtime/gpu/rows.h"
#include "support/error_text.h"
#include <pipe/error.h>

namespace Pipe::runtime {

namespace {

bool is_empty(const DeviceBuffer &b) {
    return b.end <= b.begin;
}

ArgumentBuffer *argument_of(const DeviceBuffer &b) {
    return static_cast<ArgumentBuffer *>(b.owner);
}

/// Whether an access leaves no element of the whole Allocation as it was.
bool overwrites_all(const DeviceBuffer &b, int32_t access, const ir::AllocationPart &part) {
    return (access & DeviceOverwrite) && !b.shape &&
           part.allocation->covered_by(part.offset + b.begin, part.offset + b.end);
}

std::string buffer_text(const DeviceBuffer &b) {
    return fmt::format("Buffer '{}'", support::marked(support::Field::Func, b.name ? b.name : ""));
}

/// Memory that the Buffer may have on another device is older now.
void host_changed(const DeviceBuffer &b) {
    const ArgumentBuffer *argument = argument_of(b);
    if (argument && argument->part.allocation->get(RawBuffer::has_device_flag))
        argument->part.allocation->set(RawBuffer::host_dirty_flag, true);
}

/// Rows of a few bytes, as those of one channel of interleaved pixels, take as long to copy as long ones: in memory that is
/// ours, they are copied with what lies between. No page lies in such a gap, so that all of it can be read.
constexpr int64_t short_row = 64, small_gap = 64;

RowPlan exact_rows(const DeviceBuffer &b) {
    if (!b.shape)
        return {b.begin, b.end - b.begin, {}};
    return plan_rows(steps_of(b.shape->dim, static_cast<size_t>(b.dimensions), b.element_bytes),
                     b.element_bytes);
}

RowPlan rows_with_gaps(const DeviceBuffer &b, const RowPlan &exact) {
    if (exact.around.empty() || exact.row_bytes >= short_row)
        return exact;
    return plan_rows(steps_of(b.shape->dim, static_cast<size_t>(b.dimensions), b.element_bytes),
                     b.element_bytes, small_gap);
}

}  // namespace

void fill_argument(const char *name, const BufferBase &buffer, BufferArgument *argument,
                   DeviceBuffer *device, ArgumentBuffer *owner) {
    const BufferView view = buffer.view();
    const auto bytes = int64_t{view.type.bytes()};
    bool empty = false;
    int64_t low = 0, high = 1;  // elements from the first
    for (const BufferDim &dim : view.dims) {
        empty |= dim.extent == 0;
        (dim.stride < 0 ? low : high) += dim.stride * (dim.extent - 1);
    }
    *owner = {buffer.allocation()};
    *device = {};
    device->name = name;
    device->host = view.host;
    device->begin = low * bytes;
    device->end = empty ? device->begin : high * bytes;
    if (!ir::is_dense(view.dims.data(), view.dims.size()))
        device->shape = argument;
    device->dimensions = static_cast<int32_t>(view.dims.size());
    device->element_bytes = view.type.bytes();
    device->owner = owner;
    argument->device = device;
}

GPURun::~GPURun() {
    Device *device = device_;
    if (!device)
        return;
    try {
        device->submit(queue_);         // of a run that failed
    } catch (const std::exception &) {  // it has said so
    }
    for (DeviceBuffer *b : arguments_) {  // another run may be given the same
        note_users_stream(*b);
        b->device = 0;
        b->host_newer = b->device_newer = 0;
        argument_of(*b)->kind = ArgumentBuffer::Unknown;
    }
    for (const TimedLaunch &t : timed_)
        for (uint64_t time : {t.begin, t.end})
            if (time != 0)
                device->free_time(time);
    for (const Held &held : held_)
        device->free(held.address, queue_);
    device->close_queue(queue_);
}

/// Another run may have waited for the stream since use_on_device(), before the launches were there.
void GPURun::note_users_stream(DeviceBuffer &b) noexcept {
    if (queue_.own || argument_of(b)->kind != ArgumentBuffer::Resident)
        return;
    ir::Allocation &a = *argument_of(b)->part.allocation;
    std::lock_guard lock(a.mutex);
    auto *memory = static_cast<ResidentMemory *>(a.device.get());
    if (memory && &memory->device() == device_)
        memory->used_in(queue_);
}

Device &GPURun::device() {
    if (Device *used = device_.load(std::memory_order_acquire))
        return *used;
    static std::mutex first_use;
    std::lock_guard lock(first_use);
    if (!device_) {
        Device &found = find_(user_);
        queue_ = found.open_queue(user_ ? user_->cuda_stream : nullptr);
        if (!times_ && found.launches_together())
            queue_.waiting = &launches_;
        device_.store(&found, std::memory_order_release);
    }
    return *device_;
}

/// With the mutex locked.
void GPURun::allocate(DeviceBuffer &b) {
    Device &d = device();
    if (held_.size() == held_.capacity())
        held_.reserve(2 * held_.size() + 8);
    const uint64_t address = d.allocate(b.end - b.begin, queue_);
    held_.push_back({address, b.owner ? &b : nullptr});
    b.device = address - static_cast<uint64_t>(b.begin);
}

void GPURun::open(DeviceBuffer &b) {
    if (is_empty(b))
        return;
    std::lock_guard lock(mutex_);
    allocate(b);
}

void GPURun::close(DeviceBuffer &b) noexcept {
    if (b.device == 0)
        return;
    std::lock_guard lock(mutex_);
    const uint64_t address = b.device + static_cast<uint64_t>(b.begin);
    auto held = std::find_if(held_.rbegin(), held_.rend(),
                             [&](const Held &h) { return h.address == address; });
    if (held == held_.rend())
        return;
    held_.erase(std::prev(held.base()));
    device().free(address, queue_);
    b.device = 0;
}

void GPURun::copy_to_device(DeviceBuffer &b) {
    for_each_rows(rows_with_gaps(b, exact_rows(b)), [&](int64_t offset, const Rows &rows) {
        device().copy_to_device(b.device + static_cast<uint64_t>(offset),
                                static_cast<char *>(b.host) + offset, rows, queue_);
    });
    uploading_ = true;
}

void GPURun::copy_to_host(DeviceBuffer &b) {
    const RowPlan exact = exact_rows(b), rows_and_gaps = rows_with_gaps(b, exact);
    auto *host = static_cast<char *>(b.host);
    auto copy_to = [&](char *to, const RowPlan &plan) {
        for_each_rows(plan, [&](int64_t offset, const Rows &rows) {
            device().copy_to_host(to + offset, b.device + static_cast<uint64_t>(offset), rows,
                                  queue_);
        });
    };
    if (exact.row_bytes == rows_and_gaps.row_bytes)
        return copy_to(host, exact);
    std::vector<char> staged(static_cast<size_t>(b.end - b.begin));
    char *elements = staged.data() - b.begin;
    copy_to(elements, rows_and_gaps);
    for_each_rows(exact, [&](int64_t offset, const Rows &rows) {
        for (int64_t i = 0; i < rows.count; i++)
            std::memcpy(host + offset + i * rows.pitch, elements + offset + i * rows.pitch,
                        static_cast<size_t>(rows.bytes));
    });
}

/// Decided at the first use, and then kept to. With the mutex locked.
bool GPURun::is_resident(DeviceBuffer &b) {
    const ArgumentBuffer *argument = argument_of(b);
    if (!argument)
        return false;
    if (argument->kind == ArgumentBuffer::Unknown)
        decide(b);
    return argument->kind == ArgumentBuffer::Resident;
}

void GPURun::decide(DeviceBuffer &b) {
    ArgumentBuffer &argument = *argument_of(b);
    Device &d = device();
    arguments_.push_back(&b);
    ir::Allocation &a = *argument.part.allocation;
    std::lock_guard lock(a.mutex);
    auto *memory = static_cast<ResidentMemory *>(a.device.get());
    if (memory && memory->lost() && !memory->wrapped() && !a.get(RawBuffer::device_dirty_flag)) {
        a.device = std::make_unique<ResidentMemory>(a, memory->interface(), memory->device(), 0);
        a.set(RawBuffer::host_dirty_flag, true);
    }
    if (a.device && a.device->lost())
        a.drop_lost_device(buffer_text(b));
    memory = static_cast<ResidentMemory *>(a.device.get());
    if (memory && &memory->device() == &d) {
        argument.kind = ArgumentBuffer::Resident;
        b.device = memory->address() + static_cast<uint64_t>(argument.part.offset);
        return;
    }
    if (a.get(RawBuffer::device_dirty_flag))
        a.newest_to_host(user_, buffer_text(b));
    if (!b.host)
        throw RuntimeError(buffer_text(b) + " has no memory on the host, and none on " + d.name() +
                           ". Call allocate(), or device_malloc() for this device.");
    argument.kind = ArgumentBuffer::Temporary;
    b.host_newer = 1;
}

void GPURun::use_resident(DeviceBuffer &b, int32_t access, ResidentMemory &memory) {
    const ir::AllocationPart &part = argument_of(b)->part;
    ir::Allocation &a = *part.allocation;
    if (part.offset + b.begin < a.begin || part.offset + b.end > a.end)
        throw RuntimeError(
            buffer_text(b) +
            " has elements outside of the memory that it was given on the device: its "
            "shape was changed. Call device_free() on it.");
    memory.begin_use(queue_);
    if (a.get(RawBuffer::host_dirty_flag)) {
        if (!overwrites_all(b, access, part) && a.host) {
            memory.copy_to_device(a, queue_);
            uploading_ = true;
            if (queue_.own)  // other runs take it for there as soon as the flag says so
                device().synchronize(queue_);
        }
        a.set(RawBuffer::host_dirty_flag, false);
    }
    if (access & DeviceWrite)
        a.set(RawBuffer::device_dirty_flag, true);
    memory.used_in(queue_);
}

void GPURun::use_on_device(DeviceBuffer &b, int32_t access) {
    if (is_empty(b))
        return;
    if ((access & DeviceNarrow) && !fits_narrow_indices(b))
        throw IndicesTooNarrow(fmt::format(
            "{} extends over {} elements, more than {}, which is what kernels reach whose indices "
            "have 32 bits. Compile for a target with the feature large_buffers "
            "(Target::LargeBuffers): indices of 64 bits.",
            buffer_text(b), std::max(-b.begin, b.end) / b.element_bytes, most_narrow_elements));
    std::lock_guard lock(mutex_);
    if (is_resident(b)) {
        ir::Allocation &a = *argument_of(b)->part.allocation;
        std::lock_guard lock_allocation(a.mutex);
        if (!a.device)
            throw RuntimeError(buffer_text(b) +
                               ": its device memory was freed while a pipeline used it.");
        return use_resident(b, access, static_cast<ResidentMemory &>(*a.device));
    }
    if (b.device == 0)
        allocate(b);
    if (b.host_newer && b.host && !(access & DeviceOverwrite))
        copy_to_device(b);
    b.host_newer = 0;
    if (access & DeviceWrite)
        b.device_newer = 1;
}

/// Of an argument that is not Temporary.
void GPURun::use_argument_on_host(DeviceBuffer &b, int32_t access) {
    const ir::AllocationPart &part = argument_of(b)->part;
    ir::Allocation &a = *part.allocation;
    std::lock_guard lock(a.mutex);
    if (!b.host)
        throw RuntimeError(buffer_text(b) +
                           " has no memory on the host, but a Func that is computed there accesses "
                           "it. Give that Func gpu directives, or the Buffer memory (allocate()).");
    if (a.get(RawBuffer::device_dirty_flag) && !overwrites_all(b, access, part)) {
        auto *memory = static_cast<ResidentMemory *>(a.device.get());
        if (memory && !memory->lost() && &memory->device() == device_) {
            memory->copy_to_host(a, queue_);
            a.set(RawBuffer::device_dirty_flag, false);
        } else {
            a.newest_to_host(user_, buffer_text(b));
        }
    }
    if (access & DeviceWrite) {
        a.set(RawBuffer::device_dirty_flag, false);
        a.set(RawBuffer::host_dirty_flag, a.device != nullptr);
    }
}

void GPURun::use_on_host(DeviceBuffer &b, int32_t access) {
    if (is_empty(b))
        return;
    submit();
    std::lock_guard lock(mutex_);
    if ((access & DeviceWrite) && uploading_) {
        device().synchronize(queue_);
        uploading_ = false;
    }
    if (const ArgumentBuffer *argument = argument_of(b);
        argument && argument->kind != ArgumentBuffer::Temporary)
        return use_argument_on_host(b, access);
    if (b.device_newer && b.host && !(access & DeviceOverwrite))
        copy_to_host(b);
    b.device_newer = 0;
    if (access & DeviceWrite) {
        b.host_newer = 1;
        host_changed(b);
    }
}

void GPURun::launch(GPUModule &module, const GPULaunch &launch, void *const *params) {
    // A loop over blocks or threads without iterations: drivers refuse such a launch.
    for (size_t d = 0; d < 3; d++)
        if (launch.blocks[d] <= 0 || launch.threads[d] <= 0)
            return;
    const Launch one{&module, launch};
    Device &d = device();
    if (times_)
        launch_timed(module, launch, params);
    else if (add_to_waiting(d, one, params))
        return;
    else
        d.launch(module, launch, params, queue_);
    std::lock_guard lock(mutex_);
    launches_.note_launched(one);
}

/// False where launches do not wait.
bool GPURun::add_to_waiting(Device &device, const Launch &launch, void *const *params) {
    constexpr size_t most = 64;  // so that the device has work early in a long loop
    if (!queue_.waiting)
        return false;
    std::lock_guard lock(mutex_);
    launches_.add(*launch.module, launch.launch, params);
    if (launches_.size() == most)
        device.submit(queue_);
    return true;
}

void GPURun::submit() {
    Device *used = device_.load(std::memory_order_acquire);
    if (!used || !queue_.waiting)
        return;
    std::lock_guard lock(mutex_);
    used->submit(queue_);
}

void GPURun::launch_timed(GPUModule &module, const GPULaunch &launch, void *const *params) {
    Device &d = device();
    const auto start = std::chrono::steady_clock::now();
    const uint64_t begin = d.mark_time(queue_);
    uint64_t end = 0;
    try {
        d.launch(module, launch, params, queue_);
        end = d.mark_time(queue_);
    } catch (...) {
        d.free_time(begin);
        throw;
    }
    const std::chrono::duration<double, std::milli> passed =
        std::chrono::steady_clock::now() - start;
    std::lock_guard lock(mutex_);
    timed_.push_back({module.kernels[launch.kernel].name, begin, end, passed.count()});
}

/// With the mutex locked, when all work is done.
void GPURun::add_times() {
    for (const TimedLaunch &t : timed_)
        add_kernel_time(*times_, {t.kernel, 1,
                                  t.begin == 0 ? t.host_milliseconds
                                               : device().milliseconds_between(t.begin, t.end)});
}

std::string GPURun::explain(const std::string &failure) {
    std::lock_guard lock(mutex_);
    const int64_t launched = launches_.launched();
    if (launched == 0)
        return failure;
    const Launch &last = launches_.last_launched();
    return fmt::format("{} Launched before in this run: {}{}.", failure,
                       launched > 1 ? fmt::format("{} kernels, the last one ", launched) : "",
                       describe(*last.module, last.launch));
}

void GPURun::finish() {
    submit();
    std::lock_guard lock(mutex_);
    if (!device_)
        return;
    for (const Held &held : held_) {
        DeviceBuffer *b = held.argument;
        if (!b || !b->device_newer)
            continue;
        copy_to_host(*b);
        b->device_newer = 0;
        host_changed(*b);
    }
    if (queue_.own || !queue_.stream || times_)
        device().synchronize(queue_);
    if (times_)
        add_times();
}

}  // namespace Pipe::runtime
