#include "ir/buffer_layout.h"

#include "ir/allocation.h"

namespace Pipe::ir {

using support::Field;
using support::marked;

std::string describe_buffer(const std::string &name, Type type) {
    const std::string of = to_string(type);
    return name.empty() ? fmt::format("Unnamed Buffer of {}", of)
                        : fmt::format("Buffer '{}' of {}", marked(Field::Func, name), of);
}

std::string extents_text(std::span<const BufferDim> dims) {
    std::vector<int64_t> extents;
    for (const BufferDim &d : dims) {
        extents.push_back(d.extent);
    }
    return fmt::format("{}", fmt::join(extents, " x "));
}

ElementSpan checked_span(const std::string &who, Type type, std::span<const BufferDim> dims) {
    ElementSpan span;
    int64_t elements = 1;
    bool overflow = false;
    for (size_t i = 0; i < dims.size(); i++) {
        const BufferDim &d = dims[i];
        if (d.extent < 0) {
            fail_buffer(who, "the extent of dimension {} is {}; it must not be negative",
                        marked(Field::Dimension, i), marked(Field::Given, d.extent));
        }
        int64_t end = 0;
        if (__builtin_add_overflow(d.min, d.extent, &end)) {
            fail_buffer(
                who, "the coordinates of dimension {} (min {}, extent {}) do not fit into 64 bits",
                i, d.min, d.extent);
        }
        span.empty |= d.extent == 0;
    }
    for (const BufferDim &d : dims) {
        int64_t reach = 0;
        overflow |= __builtin_mul_overflow(elements, d.extent, &elements);
        overflow |= __builtin_mul_overflow(std::max<int64_t>(d.extent - 1, 0), d.stride, &reach);
        int64_t &bound = reach < 0 ? span.low : span.high;
        overflow |= __builtin_add_overflow(bound, reach, &bound);
    }
    int64_t bytes = 0;
    overflow |= __builtin_sub_overflow(span.high, span.low, &bytes);
    overflow |= __builtin_mul_overflow(bytes, int64_t{type.bytes()}, &bytes) ||
                bytes > INT64_MAX - buffer_alignment - buffer_slack;
    overflow |= __builtin_mul_overflow(elements, int64_t{type.bytes()}, &bytes);
    if (overflow && !span.empty) {
        fail_buffer(who, "its size of {} elements of {} bytes overflows 64 bits",
                    extents_text(dims), type.bytes());
    }
    return span;
}

void make_dense(const std::string &who, std::vector<BufferDim> &dims,
                const std::vector<int> &order) {
    int64_t stride = 1;
    for (int i : order) {
        BufferDim &d = dims[static_cast<size_t>(i)];
        d.stride = stride;
        if (__builtin_mul_overflow(stride, std::max<int64_t>(d.extent, 1), &stride)) {
            fail_buffer(who, "its size of {} elements overflows 64 bits", extents_text(dims));
        }
    }
}

std::vector<int> identity_order(size_t n) {
    std::vector<int> order(n);
    std::iota(order.begin(), order.end(), 0);
    return order;
}

void check_permutation(const std::string &who, const std::vector<int> &order, size_t n) {
    std::vector<int> sorted = order;
    std::sort(sorted.begin(), sorted.end());
    if (sorted != identity_order(n)) {
        fail_buffer(who, "[{}] is not an order of its {} dimensions", fmt::join(order, ", "), n);
    }
}

std::shared_ptr<Allocation> allocation_of(const RawBuffer &raw, const ElementSpan &span) {
    auto allocation = std::make_shared<Allocation>();
    const auto bytes = int64_t{raw.type.bytes()};
    allocation->host = raw.host;
    allocation->element_bytes = bytes;
    if (!span.empty) {
        allocation->begin = span.low * bytes;
        allocation->end = (span.high + 1) * bytes;
    }
    if (!span.empty && !is_dense(raw.dim, static_cast<size_t>(raw.dimensions)))
        allocation->shape.assign(raw.dim, raw.dim + raw.dimensions);
    return allocation;
}

}  // namespace Pipe::ir
