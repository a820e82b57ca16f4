// Bounds queries: the regions of inputs that are read, and of outputs that are written, if some of
// them have no memory or no shape yet.

#include <pipe/pipeline.h>

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <optional>

#include <fmt/format.h>

#include "driver/compiler.h"
#include "lower/bounds_query.h"
#include "support/deep_stack.h"
#include "support/error_text.h"
#include "support/text.h"

namespace Pipe::driver {

namespace {

using support::Field;
using Shape = std::vector<BufferDim>;
using Kind = ir::Argument::Kind;

runtime::BufferArgument argument_of(const Shape &shape) {
    runtime::BufferArgument argument;
    for (size_t d = 0; d < shape.size(); d++)
        argument.dim[d] = {shape[d].min, shape[d].extent, shape[d].stride};
    return argument;
}

/// A dense shape for what is read or written; or the promised shape.
Shape shape_of(const lower::DimBounds *dims, int dimensions, bool as_promised) {
    Shape shape;
    int64_t stride = 1;
    for (int d = 0; d < dimensions; d++) {
        const lower::DimBounds &b = dims[d];
        if (as_promised)
            shape.push_back({b.buffer_min, b.buffer_extent, b.buffer_stride});
        else
            shape.push_back({b.min, b.extent, stride});
        stride *= b.extent;
    }
    return shape;
}

/// The same ranges, dense, with the dimensions in the storage order of `like`.
Shape in_order_of(const Shape &like, Shape shape) {
    std::vector<size_t> order(shape.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
        return std::abs(like[a].stride) < std::abs(like[b].stride);
    });
    int64_t stride = 1;
    for (size_t d : order) {
        shape[d].stride = stride;
        stride *= shape[d].extent;
    }
    return shape;
}

/// An output that has a shape keeps its strides unless others were promised.
bool keeps_strides(const Slot &slot) {
    return slot.kind == Kind::OutputBuffer &&
           std::none_of(slot.promise.dims.begin(), slot.promise.dims.end(),
                        [](const graph::ShapePromise &p) { return p.stride.defined(); });
}

bool contains(const BufferDim &outer, const BufferDim &inner) {
    return inner.extent <= 0 ||
           (outer.min <= inner.min && inner.min + inner.extent <= outer.min + outer.extent);
}

/// A dimension that does not cover what is needed of it; nothing if all do.
std::optional<size_t> too_small(const Shape &shape, const Shape &needed) {
    for (size_t d = 0; d < shape.size(); d++)
        if (!contains(shape[d], needed[d]))
            return d;
    return std::nullopt;
}

Shape shape_of(const BufferBase &buffer) {
    const BufferView view = buffer.view();
    return {view.dims.begin(), view.dims.end()};
}

bool same_ranges(std::span<const BufferDim> a, std::span<const BufferDim> b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [](const BufferDim &i, const BufferDim &j) {
                          return i.min == j.min && i.extent == j.extent;
                      });
}

/// One run of the query: the bounds of all dimensions of all images and outputs, in order, for the
/// kernel that will run: the usual one if it needs no more than the kernel for any size.
std::vector<lower::DimBounds> run_query(const jit::Kernel &kernel, const std::vector<Slot> &slots,
                                        const std::vector<ArgumentValue> &given,
                                        const std::vector<Shape> &shapes, size_t count,
                                        const runtime::RunOptions &options) {
    std::vector<lower::DimBounds> bounds(2 * count);
    std::vector<runtime::BufferArgument> buffers(slots.size() + 1);
    std::vector<uint64_t> scalars(slots.size());
    std::vector<void *> pointers;
    for (size_t i = 0; i < slots.size(); i++) {
        buffers[i] = argument_of(shapes[i]);
        scalars[i] = given[i].bits;
        bool scalar = slots[i].kind == Kind::Scalar;
        pointers.push_back(scalar ? static_cast<void *>(&scalars[i]) : &buffers[i]);
    }
    constexpr size_t numbers = sizeof(lower::DimBounds) / sizeof(int64_t);
    buffers.back() = argument_of({{0, static_cast<int64_t>(bounds.size() * numbers), 1}});
    buffers.back().host = bounds.data();
    pointers.push_back(&buffers.back());
    std::string error;
    if (kernel.run(options, pointers.data(), &error) != 0)
        throw RuntimeError(error);
    auto any_size = bounds.begin() + static_cast<long>(count);
    const bool usual = std::equal(bounds.begin(), any_size, any_size,
                                  [](const lower::DimBounds &a, const lower::DimBounds &b) {
                                      return contains({b.min, b.extent, 0}, {a.min, a.extent, 0});
                                  });
    return usual ? std::vector(bounds.begin(), any_size) : std::vector(any_size, bounds.end());
}

std::string promised_too_little(const Slot &slot, size_t dim, const BufferDim &promised,
                                const BufferDim &needed) {
    auto range = [](const BufferDim &d) {
        return fmt::format("from {} to {}", d.min, d.min + d.extent - 1);
    };
    return fmt::format("Buffer {} was promised to cover dimension {} {}, but is needed {}. Promise "
                       "that range (set_bounds, set_min, set_extent), or nothing.",
                       slot.name, dim, range(promised), range(needed));
}

bool asks_for_shape(const ArgumentValue &given) {
    return given.buffer && given.buffer->defined() && given.buffer->is_bounds_query();
}

}  // namespace

bool is_query(const std::vector<ArgumentValue> &given) {
    return std::any_of(given.begin(), given.end(), asks_for_shape);
}

const jit::Kernel &Compiled::query_kernel() {
    std::lock_guard lock(mutex_);
    if (query_.defined())
        return query_;
    support::on_deep_stack([&] {
        query_ = jit::compile(lower::bounds_query(scheduled_.inlined, scheduled_.frozen.schedule),
                              target_.without_feature(Target::Profile));
    });
    return query_;
}

std::vector<Shape> Compiled::infer_bounds(const std::vector<ArgumentValue> &given, bool as_promised,
                                          const runtime::RunOptions &options) {
    const std::vector<Slot> &slots = slots_.slots();
    std::vector<Shape> shapes(slots.size());
    std::vector<bool> open(slots.size());
    size_t count = 0;
    for (size_t i = 0; i < slots.size(); i++) {
        const BufferBase *b = given[i].buffer;
        bool scalar = slots[i].kind == Kind::Scalar;
        if (b && b->defined() && b->dimensions() != slots[i].dimensions)
            throw RuntimeError(fmt::format(
                "{}: '{}' has {}, but is given {}. Give one Buffer or size per dimension.",
                slots_.pipeline(), support::marked(Field::Func, slots[i].name),
                support::marked(Field::Needed, support::counted(slots[i].dimensions, "dimension")),
                support::marked(Field::Given, b->dimensions())));
        open[i] = !scalar && (!b->defined() || b->is_bounds_query());
        shapes[i] = b && b->defined() ? shape_of(*b) : Shape(slots[i].dimensions);
        count += scalar ? 0 : static_cast<size_t>(slots[i].dimensions);
    }
    // The region read of one input may depend on the shape of another, or on its own (a clamp); the
    // region written of an output depends on the requested size. Promised shapes may also depend on
    // it: if the iteration converges to less than is needed, the needed size is tried once.
    std::vector<Shape> tried(slots.size());
    const Slot *changed = nullptr;
    for (int round = 0; round < 1000; round++) {
        std::vector<lower::DimBounds> bounds =
            run_query(query_kernel(), slots, given, shapes, count, options);
        changed = nullptr;
        const lower::DimBounds *next = bounds.data();
        for (size_t i = 0; i < slots.size(); i++) {
            if (slots[i].kind == Kind::Scalar)
                continue;
            const Shape needed = shape_of(next, slots[i].dimensions, false);
            Shape shape = shape_of(next, slots[i].dimensions, as_promised);
            next += slots[i].dimensions;
            if (!open[i])
                continue;
            auto settled = [&] {
                return keeps_strides(slots[i]) ? same_ranges(shape, shapes[i]) : shape == shapes[i];
            };
            if (std::optional<size_t> d = too_small(shape, needed); d && settled()) {
                if (tried[i] == needed)
                    throw RuntimeError(slots_.pipeline() + ": " +
                                       promised_too_little(slots[i], *d, shape[*d], needed[*d]));
                shape = tried[i] = needed;
            }
            if (settled())
                continue;
            shapes[i] = shape;
            changed = &slots[i];
        }
        if (!changed)
            return shapes;
    }
    throw RuntimeError(fmt::format("{}: no size of '{}' is sufficient: the larger it is, the more "
                                   "of it is needed. Set its size "
                                   "(set_bounds) or give it a Buffer.",
                                   slots_.pipeline(), support::marked(Field::Func, changed->name)));
}

void Compiled::give_shapes(const std::vector<ArgumentValue> &given,
                           const runtime::RunOptions &options) {
    std::vector<Shape> shapes = infer_bounds(given, true, options);
    for (size_t i = 0; i < given.size(); i++)
        if (asks_for_shape(given[i]))
            given[i].buffer->set_shape(shapes[i]);
}

bool Compiled::grow_outputs(std::vector<ArgumentValue> &given, const runtime::RunOptions &options,
                            std::vector<Buffer<void>> &grown) {
    const std::vector<Slot> &slots = slots_.slots();
    std::vector<ArgumentValue> asked = given;
    std::vector<size_t> outputs;
    for (size_t i = 0; i < slots.size(); i++)
        if (slots[i].kind == Kind::OutputBuffer)
            outputs.push_back(i);
    grown.reserve(outputs.size());  // `asked` points into it
    for (size_t i : outputs) {
        grown.emplace_back(slots[i].type, static_cast<void *>(nullptr), shape_of(*given[i].buffer),
                           given[i].buffer->name());
        asked[i].buffer = &grown.back();
    }
    std::vector<Shape> shapes = infer_bounds(asked, false, options);
    bool any = false;
    for (size_t i : outputs)
        any |= !same_ranges(shapes[i], given[i].buffer->view().dims);
    if (!any) {
        grown.clear();
        return false;
    }
    for (size_t i : outputs) {
        asked[i].buffer->set_shape(in_order_of(shape_of(*given[i].buffer), shapes[i]));
        given[i].buffer = asked[i].buffer;
    }
    for (Buffer<void> &buffer : grown)
        buffer.allocate();
    return true;
}

void Compiled::make_inputs(Outputs outputs, const runtime::RunOptions &options) {
    BorrowedArguments call;
    slots_.gather(outputs, call->given);
    std::vector<Shape> shapes = infer_bounds(call->given, true, options);
    for (size_t i = 0; i < shapes.size(); i++) {
        const Slot &slot = slots_.slots()[i];
        if (slot.kind == Kind::OutputBuffer && asks_for_shape(call->given[i]))
            call->given[i].buffer->set_shape(shapes[i]);
        if (!slot.image || slot.image->buffer.defined())
            continue;
        Buffer<void> buffer(slot.type, static_cast<void *>(nullptr), shapes[i], slot.name);
        buffer.allocate();
        std::const_pointer_cast<language::ImageContents>(slot.image)->buffer = buffer;
    }
}

}  // namespace Pipe::driver
