// Buffers with other coordinates or dimensions over the same memory.

#include <pipe/buffer.h>

#include <cstdlib>

#include "ir/buffer_layout.h"

namespace Pipe {

using ir::check_permutation;
using ir::checked_span;
using ir::describe;
using ir::fail_buffer;
using support::Field;
using support::marked;

namespace {

std::string range_text(Field field, int64_t min, int64_t extent) {
    return marked(field, fmt::format("{} to {}", min, min + extent - 1));
}

}  // namespace

void BufferBase::set_min(const std::vector<int64_t> &mins) {
    std::vector<BufferDim> dims = contents().shape();
    for (size_t i = 0; i < mins.size(); i++) {
        checked_dim(static_cast<int>(i));
        dims[i].min = mins[i];
    }
    checked_span(describe(*this), type(), dims);
    contents().set_shape(std::move(dims));
}

void BufferBase::translate(int d, int64_t delta) {
    checked_dim(d);
    std::vector<BufferDim> dims = contents().shape();
    BufferDim &dim = dims[static_cast<size_t>(d)];
    const std::string who = describe(*this);
    if (__builtin_add_overflow(dim.min, delta, &dim.min)) {
        fail_buffer(who, "moving dimension {} by {} overflows 64 bits", d, delta);
    }
    checked_span(who, type(), dims);
    contents().set_shape(std::move(dims));
}

void BufferBase::translate(const std::vector<int64_t> &deltas) {
    for (size_t i = 0; i < deltas.size(); i++) {
        translate(static_cast<int>(i), deltas[i]);
    }
}

void BufferBase::crop(int d, int64_t min, int64_t extent) {
    const BufferDim &dim = checked_dim(d);
    const int64_t max = dim.min + dim.extent - 1;
    const bool inside = extent >= 0 && min >= dim.min && min <= max + 1 && extent <= max + 1 - min;
    if (!inside) {
        fail_buffer(describe(*this),
                    "dimension {} cannot be cropped to min {}, extent {} ({}): it has "
                    "min {}, extent {} ({}). Crop to a range inside of that",
                    marked(Field::Dimension, d), min, extent,
                    range_text(Field::Needed, min, extent), dim.min, dim.extent,
                    range_text(Field::Given, dim.min, dim.extent));
    }
    RawBuffer &raw = contents().raw;
    if (extent > 0) {
        const int64_t step = (min - dim.min) * dim.stride * raw.type.bytes();
        contents().offset += step;
        if (raw.host != nullptr)
            raw.host += step;
    }
    raw.dim[d] = {min, extent, dim.stride, dim.flags};
}

void BufferBase::crop(const std::vector<std::pair<int64_t, int64_t>> &mins_and_extents) {
    for (size_t i = 0; i < mins_and_extents.size(); i++) {
        crop(static_cast<int>(i), mins_and_extents[i].first, mins_and_extents[i].second);
    }
}

void BufferBase::transpose(int d1, int d2) {
    checked_dim(d1);
    checked_dim(d2);
    std::swap(contents().raw.dim[d1], contents().raw.dim[d2]);
}

void BufferBase::transpose(const std::vector<int> &order) {
    const std::vector<BufferDim> old = contents().shape();
    check_permutation(describe(*this), order, old.size());
    for (size_t i = 0; i < order.size(); i++) {
        contents().raw.dim[i] = old[static_cast<size_t>(order[i])];
    }
}

void BufferBase::slice_dim(int d, int64_t position) {
    if (!(position >= min(d) && position <= max(d))) {
        fail_buffer(describe(*this), "dimension {} cannot be sliced at {}: it runs from {}",
                    marked(Field::Dimension, d), marked(Field::Needed, position),
                    range_text(Field::Given, min(d), extent(d)));
    }
    crop(d, position, 1);
    std::vector<BufferDim> dims = contents().shape();
    dims.erase(dims.begin() + d);
    contents().set_shape(std::move(dims));
}

void BufferBase::embed_dim(int d, int64_t position) {
    if (d < 0 || d > dimensions()) {
        fail_buffer(describe(*this), "a new dimension cannot be inserted at index {} of {}", d,
                    dimensions() + 1);
    }
    std::vector<BufferDim> dims = contents().shape();
    dims.insert(dims.begin() + d, BufferDim{position, 1, 1});
    // Larger than any other stride, so that copies put the new dimension outermost.
    for (const BufferDim &other : dims) {
        int64_t &stride = dims[static_cast<size_t>(d)].stride;
        stride = std::max(stride, std::abs(other.stride) * std::max<int64_t>(other.extent, 1));
    }
    contents().set_shape(std::move(dims));
}

}  // namespace Pipe
