// Where Buffers have their memory: made, wrapped, given up.

#include <pipe/buffer.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>

#include "ir/allocation.h"
#include "ir/buffer_layout.h"

namespace Pipe {

using ir::Allocation;
using ir::check_permutation;
using ir::checked_span;
using ir::describe_buffer;
using ir::ElementSpan;
using ir::extents_text;
using ir::fail_buffer;
using ir::identity_order;
using ir::make_dense;
using support::Field;
using support::marked;

namespace {

using ir::buffer_alignment;
using ir::buffer_slack;

std::atomic<void *(*)(size_t)> users_allocate{nullptr};
std::atomic<void (*)(void *)> users_deallocate{nullptr};

/// Memory from the user's functions, with space to align the address.
std::shared_ptr<void> allocate_by_user(const std::string &who, void *(*allocate)(size_t),
                                       int64_t bytes) {
    auto deallocate = users_deallocate.load();
    if (deallocate == nullptr)
        fail_buffer(who,
                    "set_default_allocate_fn() was called, but not set_default_deallocate_fn(), "
                    "so that its memory could not be freed. Set both");
    void *memory = allocate(static_cast<size_t>(bytes + buffer_alignment));
    if (memory == nullptr)
        return nullptr;
    auto address = reinterpret_cast<uintptr_t>(memory);
    address += buffer_alignment - address % buffer_alignment;
    return {reinterpret_cast<void *>(address), [=](void *) { deallocate(memory); }};
}

std::shared_ptr<void> allocate_bytes(const std::string &who, const std::vector<BufferDim> &dims,
                                     int64_t bytes) {
    const int64_t rounded =
        (bytes + buffer_alignment - 1) / buffer_alignment * buffer_alignment + buffer_slack;
    auto allocate = users_allocate.load();
    std::shared_ptr<void> memory =
        allocate
            ? allocate_by_user(who, allocate, rounded)
            : std::shared_ptr<void>(
                  std::aligned_alloc(buffer_alignment, static_cast<size_t>(rounded)), std::free);
    if (memory == nullptr) {
        fail_buffer(who, "out of memory: {} elements ({} bytes) are needed", extents_text(dims),
                    marked(Field::Needed, bytes));
    }
    return memory;
}

void check_type(const std::string &who, Type type) {
    if (!type.defined() || !type.is_scalar() || type.is_handle()) {
        fail_buffer(who, "a Buffer holds scalar numbers, not values of type '{}'", to_string(type));
    }
}

}  // namespace

BufferBase BufferBase::make(Type type, const std::vector<int64_t> &sizes,
                            const std::vector<int> &storage_order, std::string name) {
    const std::string who = describe_buffer(name, type);
    std::vector<BufferDim> dims;
    for (int64_t size : sizes) {
        dims.push_back({0, size, 1});
    }
    check_type(who, type);
    for (size_t i = 0; i < sizes.size(); i++) {
        if (sizes[i] < 0) {
            fail_buffer(who, "the extent of dimension {} is {}; it must not be negative",
                        marked(Field::Dimension, i), marked(Field::Given, sizes[i]));
        }
    }
    if (storage_order.empty()) {
        make_dense(who, dims, identity_order(dims.size()));
    } else {
        check_permutation(who, storage_order, dims.size());
        make_dense(who, dims, storage_order);
    }
    BufferBase result = wrap(type, nullptr, dims, std::move(name));
    result.allocate();
    return result;
}

BufferBase BufferBase::wrap(Type type, void *host, std::span<const BufferDim> dims,
                            std::string name) {
    const std::string who = describe_buffer(name, type);
    check_type(who, type);
    const ElementSpan span = checked_span(who, type, dims);
    BufferBase result;
    result.contents_ = std::make_shared<Contents>();
    result.contents_->raw.host = static_cast<uint8_t *>(host);
    result.contents_->raw.type = type;
    result.contents_->set_shape({dims.begin(), dims.end()});
    result.contents_->name = std::move(name);
    result.contents_->set_allocation(allocation_of(result.contents_->raw, span), 0);
    return result;
}

namespace {

/// The Allocation that a RawBuffer says that it is a part of; null where it does not, or where its address was changed.
std::shared_ptr<Allocation> allocation_in(const RawBuffer &raw, int64_t *offset) {
    if (!raw.flags.memory())
        return nullptr;
    auto *allocation = static_cast<Allocation *>(raw.flags.memory());
    if (raw.host && allocation->host)
        *offset = raw.host - allocation->host;
    else if (!raw.host && !allocation->host && raw.device && allocation->device)
        *offset = static_cast<int64_t>(raw.device - allocation->device->address());
    else
        return nullptr;
    const bool inside = *offset >= allocation->begin && *offset <= allocation->end;
    return inside ? allocation->shared_from_this() : nullptr;
}

}  // namespace

BufferBase BufferBase::wrap(const RawBuffer &raw, const std::string &name) {
    BufferBase result =
        wrap(raw.type, raw.host, {raw.dim, static_cast<size_t>(raw.dimensions)}, name);
    int64_t offset = 0;
    if (auto shared = allocation_in(raw, &offset)) {
        result.contents_->set_allocation(std::move(shared), offset);
        return result;
    }
    if (raw.device != 0 && raw.device_interface)
        result.device_wrap_native(raw.device_interface, raw.device);
    for (uint64_t flag : {RawBuffer::host_dirty_flag, RawBuffer::device_dirty_flag})
        result.contents_->raw.set_flag(flag, raw.get_flag(flag));
    return result;
}

BufferBase::Contents::Contents() = default;
BufferBase::Contents::~Contents() = default;

BufferBase::Contents::Contents(const Contents &other)
    : raw(other.raw), allocation(other.allocation), offset(other.offset), name(other.name) {
    set_shape(other.shape());
}

void BufferBase::Contents::set_shape(std::vector<BufferDim> shape) {
    dims = std::move(shape);
    raw.dim = dims.data();
    raw.dimensions = static_cast<int32_t>(dims.size());
}

void BufferBase::Contents::set_allocation(std::shared_ptr<Allocation> memory, int64_t place) {
    allocation = std::move(memory);
    offset = place;
    raw.flags.set_memory(allocation.get());
}

void BufferBase::allocate() {
    Contents &c = contents();
    const std::string who = describe_buffer(c.name, type());
    std::vector<BufferDim> dims = c.shape();
    std::vector<int> order = identity_order(dims.size());
    // If interleaved pixels have only one channel, its stride equals that of a pixel; it is the inner dimension.
    auto place = [&](int d) {
        const BufferDim &dim = dims[static_cast<size_t>(d)];
        return std::pair(std::abs(dim.stride), dim.extent != 1);
    };
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return place(a) < place(b); });
    make_dense(who, dims, order);
    const ElementSpan span = checked_span(who, type(), dims);
    const int64_t bytes = span.empty ? 0 : (span.high + 1) * type().bytes();
    std::shared_ptr<void> memory = allocate_bytes(who, dims, bytes);
    c.raw.host = static_cast<uint8_t *>(memory.get());
    c.set_shape(std::move(dims));
    c.set_allocation(allocation_of(c.raw, span), 0);
    c.allocation->owned = std::move(memory);
}

void BufferBase::set_default_allocate_fn(void *(*allocate)(size_t bytes)) {
    users_allocate = allocate;
}

void BufferBase::set_default_deallocate_fn(void (*deallocate)(void *memory)) {
    users_deallocate = deallocate;
}

void BufferBase::deallocate() {
    if (!defined())
        return;
    contents().raw.host = nullptr;
    contents().set_allocation(std::make_shared<Allocation>(), 0);
}

bool BufferBase::owns_host_memory() const {
    return defined() && contents().allocation->owned != nullptr;
}

void BufferBase::set_shape(const std::vector<BufferDim> &dims) const {
    if (!is_bounds_query())
        throw RuntimeError("Buffer '" + name() + "': set_shape needs a Buffer without memory.");
    contents().set_shape(dims);
}

}  // namespace Pipe
