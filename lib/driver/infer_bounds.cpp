// Bounds queries: which part of the inputs is read, and how much of the outputs is written, where
// some have no memory or no shape yet.

#include <pipe/pipeline.h>

#include <algorithm>

#include <fmt/format.h>

#include "driver/compiler.h"
#include "lower/bounds_query.h"
#include "support/deep_stack.h"
#include "support/text.h"

namespace Pipe::driver {

namespace {

using Shape = std::vector<BufferDim>;
using Kind = ir::Argument::Kind;

jit::BufferArgument argument_of(const Shape &shape) {
    jit::BufferArgument argument;
    for (size_t d = 0; d < shape.size(); d++)
        argument.dim[d] = {shape[d].min, shape[d].extent, shape[d].stride};
    return argument;
}

/// Dense, in the order of the dimensions.
Shape shape_of(const int32_t *mins_and_extents, int dimensions) {
    Shape shape;
    int64_t stride = 1;
    for (int d = 0; d < dimensions; d++) {
        shape.push_back({mins_and_extents[2 * d], mins_and_extents[2 * d + 1], stride});
        stride *= shape.back().extent;
    }
    return shape;
}

bool same_ranges(const Shape &a, const Shape &b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [](const BufferDim &i, const BufferDim &j) {
                          return i.min == j.min && i.extent == j.extent;
                      });
}

/// One run of the program: the bounds of all images and outputs, in order.
std::vector<int32_t> run_query(const jit::Kernel &kernel, const std::vector<Slot> &slots,
                               const std::vector<Given> &given, const std::vector<Shape> &shapes,
                               size_t count, const jit::RunOptions &options) {
    std::vector<int32_t> bounds(count);
    std::vector<jit::BufferArgument> buffers(slots.size() + 1);
    std::vector<uint64_t> scalars(slots.size());
    std::vector<void *> pointers;
    for (size_t i = 0; i < slots.size(); i++) {
        buffers[i] = argument_of(shapes[i]);
        scalars[i] = given[i].bits;
        bool scalar = slots[i].kind == Kind::Scalar;
        pointers.push_back(scalar ? static_cast<void *>(&scalars[i]) : &buffers[i]);
    }
    buffers.back() = argument_of({{0, static_cast<int64_t>(count), 1}});
    buffers.back().host = bounds.data();
    pointers.push_back(&buffers.back());
    std::string error;
    if (kernel.run(options, pointers.data(), &error) != 0)
        throw RuntimeError(error);
    return bounds;
}

bool asks_for_shape(const Given &given) {
    return given.buffer && given.buffer->defined() && given.buffer->is_bounds_query();
}

}  // namespace

bool is_query(const std::vector<Given> &given) {
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

std::vector<Shape> Compiled::infer_bounds(const std::vector<Given> &given,
                                          const jit::RunOptions &options) {
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
                slots_.pipeline(), slots[i].name,
                support::counted(slots[i].dimensions, "dimension"), b->dimensions()));
        open[i] = !scalar && (!b->defined() || b->is_bounds_query());
        shapes[i] = b && b->defined() ? b->view().dims : Shape(slots[i].dimensions);
        count += scalar ? 0 : 2 * static_cast<size_t>(slots[i].dimensions);
    }
    // What is read of one input may depend on the shape of another, or on its own (a clamp); what
    // is written of an output, on how much is asked for.
    for (int round = 0; round < 8; round++) {
        std::vector<int32_t> bounds =
            run_query(query_kernel(), slots, given, shapes, count, options);
        bool changed = false;
        const int32_t *next = bounds.data();
        for (size_t i = 0; i < slots.size(); i++) {
            if (slots[i].kind == Kind::Scalar)
                continue;
            Shape shape = shape_of(next, slots[i].dimensions);
            next += 2 * slots[i].dimensions;
            bool is_output =
                slots[i].kind == Kind::OutputBuffer;  // keeps its strides where it fits
            if (!open[i] || (is_output ? same_ranges(shape, shapes[i]) : shape == shapes[i]))
                continue;
            shapes[i] = shape;
            changed = true;
        }
        if (!changed)
            break;
    }
    return shapes;
}

void Compiled::give_shapes(const std::vector<Given> &given, const jit::RunOptions &options) {
    std::vector<Shape> shapes = infer_bounds(given, options);
    for (size_t i = 0; i < given.size(); i++)
        if (asks_for_shape(given[i]))
            given[i].buffer->set_shape(shapes[i]);
}

bool Compiled::grow_outputs(std::vector<Given> &given, const jit::RunOptions &options,
                            std::vector<Buffer<void>> &grown) {
    const std::vector<Slot> &slots = slots_.slots();
    std::vector<Given> asked = given;
    std::vector<size_t> outputs;
    for (size_t i = 0; i < slots.size(); i++)
        if (slots[i].kind == Kind::OutputBuffer)
            outputs.push_back(i);
    grown.reserve(outputs.size());  // `asked` points into it
    for (size_t i : outputs) {
        grown.emplace_back(slots[i].type, static_cast<void *>(nullptr),
                           given[i].buffer->view().dims, given[i].buffer->name());
        asked[i].buffer = &grown.back();
    }
    std::vector<Shape> shapes = infer_bounds(asked, options);
    bool any = false;
    for (size_t i : outputs)
        any |= !same_ranges(shapes[i], given[i].buffer->view().dims);
    if (!any) {
        grown.clear();
        return false;
    }
    for (size_t i : outputs) {
        asked[i].buffer->set_shape(shapes[i]);
        given[i].buffer = asked[i].buffer;
    }
    for (Buffer<void> &buffer : grown)
        buffer.allocate();
    return true;
}

void Compiled::make_inputs(Outputs outputs, const jit::RunOptions &options) {
    BorrowedArguments call;
    slots_.gather(outputs, call->given);
    std::vector<Shape> shapes = infer_bounds(call->given, options);
    for (size_t i = 0; i < shapes.size(); i++) {
        const Slot &slot = slots_.slots()[i];
        if (!slot.image || slot.image->buffer.defined())
            continue;
        Buffer<void> buffer(slot.type, static_cast<void *>(nullptr), shapes[i], slot.name);
        buffer.allocate();
        std::const_pointer_cast<graph::ImageContents>(slot.image)->buffer = buffer;
    }
}

}  // namespace Pipe::driver
