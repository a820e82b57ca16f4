#include <pipe/buffer.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "ir/buffer_layout.h"

namespace Pipe {

using ir::checked_span;
using ir::describe;
using ir::describe_buffer;
using ir::ElementSpan;
using ir::extents_text;
using ir::fail_buffer;
using ir::identity_order;
using support::Field;
using support::marked;

namespace {

// Copies a box between two arrays with the same extents, innermost dimension in one go if dense.
void copy_box(const char *from, char *to, const BufferDim *source, const BufferDim *target,
              size_t dims, int64_t size) {
    if (dims == 0) {
        std::memcpy(to, from, static_cast<size_t>(size));
        return;
    }
    const BufferDim &s = source[dims - 1];
    const BufferDim &t = target[dims - 1];
    if (dims == 1 && s.stride == 1 && t.stride == 1) {
        std::memcpy(to, from, static_cast<size_t>(s.extent * size));
        return;
    }
    for (int64_t i = 0; i < s.extent; i++) {
        copy_box(from + i * s.stride * size, to + i * t.stride * size, source, target, dims - 1,
                 size);
    }
}

}  // namespace

// Saturates on overflow; wrap() then reports it with the name of the Buffer.
std::vector<BufferDim> BufferBase::dense(const std::vector<int64_t> &sizes) {
    std::vector<BufferDim> dims;
    int64_t stride = 1;
    for (int64_t size : sizes) {
        dims.push_back({0, size, stride});
        if (__builtin_mul_overflow(stride, std::max<int64_t>(size, 1), &stride)) {
            stride = INT64_MAX;
        }
    }
    return dims;
}

std::vector<BufferDim> BufferBase::interleaved(int64_t width, int64_t height, int64_t channels) {
    const std::vector<BufferDim> dims = dense({channels, width, height});
    return {dims[1], dims[2], dims[0]};
}

int64_t BufferBase::number_of_elements() const {
    if (!defined())
        return 0;
    int64_t product = 1;
    for (const BufferDim &d : view().dims) {
        product *= d.extent;
    }
    return product;
}

size_t BufferBase::size_in_bytes() const {
    if (!defined())
        return 0;
    const ElementSpan span = checked_span(describe(*this), type(), view().dims);
    return span.empty ? 0 : static_cast<size_t>((span.high - span.low + 1) * type().bytes());
}

void *BufferBase::lowest_address() const {
    if (!defined())
        return nullptr;
    const ElementSpan span = checked_span(describe(*this), type(), view().dims);
    char *host = static_cast<char *>(view().host);
    return host == nullptr ? nullptr : host + (span.empty ? 0 : span.low * type().bytes());
}

bool BufferBase::contains(const std::vector<int64_t> &coordinates) const {
    const std::span<const BufferDim> dims = view().dims;
    if (coordinates.size() > dims.size()) {
        return false;
    }
    for (size_t i = 0; i < coordinates.size(); i++) {
        if (coordinates[i] < dims[i].min || coordinates[i] >= dims[i].min + dims[i].extent) {
            return false;
        }
    }
    return true;
}

BufferBase BufferBase::alias() const {
    BufferBase result;
    result.contents_ = std::make_shared<Contents>(contents());
    return result;
}

BufferBase BufferBase::deep_copy() const {
    BufferBase result = alias();
    result.allocate();
    if (view().host != nullptr) {
        result.copy_elements_from(*this);
    } else {
        result.deallocate();
    }
    return result;
}

/// Whether the memory ranges of the two overlap.
bool BufferBase::overlap(const BufferBase &a, const BufferBase &b) {
    const auto begin_a = reinterpret_cast<uintptr_t>(a.lowest_address());
    const auto begin_b = reinterpret_cast<uintptr_t>(b.lowest_address());
    return begin_a < begin_b + b.size_in_bytes() && begin_b < begin_a + a.size_in_bytes();
}

void BufferBase::copy_elements_from(const BufferBase &source) const {
    source.require(type(), dimensions());
    std::vector<std::pair<int64_t, int64_t>> common;
    for (int i = 0; i < dimensions(); i++) {
        const int64_t low = std::max(min(i), source.min(i));
        const int64_t high = std::min(max(i), source.max(i));
        if (high < low) {
            return;
        }
        common.emplace_back(low, high - low + 1);
    }
    for (const BufferBase *b : {&source, this}) {
        if (b->view().host == nullptr) {
            fail_buffer(describe_buffer(b->name(), type()),
                        "it has no memory to copy from or to. Call allocate() first");
        }
        b->copy_to_host();
    }
    if (has_device_allocation())
        set_host_dirty();
    BufferBase from = source.alias();
    BufferBase to = alias();
    from.crop(common);
    to.crop(common);
    if (overlap(from, to))
        from = from.deep_copy();  // else elements might be written before they are read
    std::vector<int> order = identity_order(common.size());
    std::stable_sort(order.begin(), order.end(),
                     [&](int a, int b) { return std::abs(to.stride(a)) < std::abs(to.stride(b)); });
    from.transpose(order);
    to.transpose(order);
    copy_box(static_cast<const char *>(from.view().host), static_cast<char *>(to.view().host),
             from.view().dims.data(), to.view().dims.data(), common.size(), type().bytes());
}

void BufferBase::require(Type type, int dimensions) const {
    if (this->type() != type) {
        fail_buffer(
            describe(*this),
            "it cannot be converted to a Buffer of {}. Declare the Buffer with the element type "
            "that it has, or cast the values in the definition",
            marked(Field::Needed, to_string(type)));
    }
    if (dimensions != AnyDims && this->dimensions() != dimensions) {
        fail_buffer(describe_buffer(name(), type),
                    "it has {} dimensions and cannot be converted to one with {}. Use sliced() or "
                    "embedded()",
                    marked(Field::Given, this->dimensions()), marked(Field::Needed, dimensions));
    }
}

void BufferBase::require_same_extents(const BufferBase &other) const {
    const auto same = [](const BufferDim &a, const BufferDim &b) { return a.extent == b.extent; };
    const std::span<const BufferDim> a = view().dims, b = other.view().dims;
    if (!std::equal(a.begin(), a.end(), b.begin(), b.end(), same)) {
        fail_buffer(describe_buffer(other.name(), other.type()),
                    "its extents are {}, but {} are needed", marked(Field::Given, extents_text(b)),
                    marked(Field::Needed, extents_text(a)));
    }
}

const BufferDim &BufferBase::checked_dim(int i) const {
    const std::span<const BufferDim> dims = view().dims;
    if (i < 0 || static_cast<size_t>(i) >= dims.size()) {
        fail_buffer(describe(*this), "there is no dimension {}; it has {} dimensions",
                    marked(Field::Dimension, i), dims.size());
    }
    return dims[static_cast<size_t>(i)];
}

BufferDim BufferBase::dim_or_one(int i) const {
    const std::span<const BufferDim> dims = view().dims;
    return static_cast<size_t>(i) < dims.size() ? dims[static_cast<size_t>(i)] : BufferDim{0, 1, 0};
}

void BufferBase::require_element(const int64_t *at, size_t n) const {
    const std::vector<int64_t> coordinates(at, at + n);
    if (view().host == nullptr) {
        fail_buffer(describe(*this), "it has no memory. Call allocate() first");
    }
    if (device_dirty()) {
        fail_buffer(describe(*this),
                    "its newest elements are on a device. Call copy_to_host() first");
    }
    if (n < view().dims.size()) {
        throw_wrong_arity("the access to an element");
    }
    for (size_t i = 0; i < n; i++) {
        const BufferDim d = dim_or_one(static_cast<int>(i));
        if (at[i] < d.min || at[i] >= d.min + d.extent) {
            fail_buffer(describe(*this),
                        "there is no element ({}): coordinate {} of dimension {} is outside {}",
                        fmt::join(coordinates, ", "), marked(Field::Needed, at[i]),
                        marked(Field::Dimension, i),
                        marked(Field::Given, fmt::format("{}..{}", d.min, d.min + d.extent - 1)));
        }
    }
}

int64_t BufferBase::offset_of_existing(const int64_t *at) const {
    int64_t offset = 0;
    for (const BufferDim &d : view().dims) {
        offset += (*at++ - d.min) * d.stride;
    }
    return offset;
}

void BufferBase::throw_undefined() {
    throw RuntimeError("A Buffer without a shape was used: it was default-constructed and nothing "
                       "has been assigned to it. Give it sizes, or assign a Buffer to it.");
}

void BufferBase::throw_wrong_arity(const char *what) const {
    fail_buffer(describe(*this), "{} must take one coordinate per dimension: {}", what,
                dimensions());
}

}  // namespace Pipe
