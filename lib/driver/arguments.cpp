#include "driver/arguments.h"

#include <cstring>

#include <fmt/format.h>

#include "ir/print.h"

namespace Pipe::driver {

using graph::ImageContents;
using graph::ParamContents;
using Kind = ir::Argument::Kind;

namespace {

std::unique_ptr<CallArguments> &kept_arguments() {
    thread_local std::unique_ptr<CallArguments> kept;
    return kept;
}

}  // namespace

Slots::Slots(const graph::Graph &graph) {
    for (const graph::Image &image : graph.images) {
        auto param = std::dynamic_pointer_cast<const ImageContents>(image.param);
        slots_.push_back({Kind::InputBuffer, image.name, image.type, image.dimensions, param,
                          image.bound, nullptr});
    }
    for (const graph::Scalar &scalar : graph.scalars)
        slots_.push_back({Kind::Scalar,
                          scalar.name,
                          scalar.type,
                          0,
                          nullptr,
                          {},
                          std::dynamic_pointer_cast<const ParamContents>(scalar.param)});
    for (FuncId id : graph.outputs) {
        const graph::FuncNode &f = graph[id];
        for (size_t i = 0; i < f.types.size(); i++)
            slots_.push_back({Kind::OutputBuffer,
                              graph::buffer_name(f, i),
                              f.types[i],
                              static_cast<int>(f.args.size()),
                              nullptr,
                              {},
                              nullptr});
    }
    for (const Slot &slot : slots_) {
        num_buffers_ += slot.kind != Kind::Scalar;
        num_outputs_ += slot.kind == Kind::OutputBuffer;
        if (slot.dimensions > jit::max_dimensions)
            throw CompileError(
                fmt::format("'{}' has {} dimensions; inputs and outputs have at most {}.",
                            slot.name, slot.dimensions, jit::max_dimensions));
    }
}

void Slots::check_program(const ir::Program &program) const {
    bool same = program.args.size() == slots_.size();
    for (size_t i = 0; same && i < slots_.size(); i++)
        same = program.args[i].name == slots_[i].name && program.args[i].kind == slots_[i].kind;
    if (!same)
        throw InternalError("the lowered program takes other arguments than the graph");
}

BorrowedArguments::BorrowedArguments() {
    arguments_ = std::move(kept_arguments());
    if (!arguments_)
        arguments_ = std::make_unique<CallArguments>();
}

BorrowedArguments::~BorrowedArguments() {
    kept_arguments() = std::move(arguments_);
}

namespace {

const char *role(const Slot &slot) {
    return slot.kind == Kind::OutputBuffer ? "Output" : "Input";
}

[[noreturn]] void reject(const Slot &slot, const std::string &why) {
    throw RuntimeError(fmt::format("{} '{}': {}", role(slot), slot.name, why));
}

}  // namespace

void Slots::check(const Slot &slot, const BufferBase &buffer) {
    if (!buffer.defined()) {
        if (slot.image)
            reject(slot, "no Buffer was given. Call set() on the ImageParam before realize().");
        reject(slot, "the Buffer given is undefined.");
    }
    const BufferView &view = buffer.view();
    if (view.type != slot.type)
        reject(slot, fmt::format("it needs elements of {}, but the Buffer given has {}.",
                                 to_string(slot.type), to_string(view.type)));
    if (static_cast<int>(view.dims.size()) != slot.dimensions)
        reject(slot, fmt::format("it needs {} dimensions, but the Buffer given has {}.",
                                 slot.dimensions, view.dims.size()));
    for (size_t d = 0; d < view.dims.size(); d++) {
        const BufferDim &dim = view.dims[d];
        if (dim.extent < 1)
            reject(slot, fmt::format("the extent of dimension {} is {}, but must be at least 1.", d,
                                     dim.extent));
        if (dim.min < INT32_MIN || dim.min + dim.extent - 1 > INT32_MAX || dim.extent > INT32_MAX)
            reject(
                slot,
                fmt::format("dimension {} runs from {} to {}, but coordinates are 32-bit integers.",
                            d, dim.min, dim.min + dim.extent - 1));
    }
    if (!view.host)
        reject(slot, "the Buffer given has no memory (a null pointer).");
}

void Slots::check_limits(const Slot &slot, uint64_t bits) {
    auto within = [&](auto v, const Expr &low, const Expr &high, auto bound) {
        if ((!low.defined() || v >= bound(low)) && (!high.defined() || v <= bound(high)))
            return;
        throw RuntimeError(fmt::format("Param '{}' is {}, but its range is {} to {}.", slot.name, v,
                                       low.defined() ? ir::to_string(low) : "any",
                                       high.defined() ? ir::to_string(high) : "any"));
    };
    const ParamContents &p = *slot.param;
    if (!p.min.defined() && !p.max.defined())
        return;
    if (slot.type.is_float()) {
        double v = 0;
        float f = 0;
        std::memcpy(&f, &bits, sizeof f);
        std::memcpy(&v, &bits, sizeof v);
        if (slot.type.bits == 32)
            v = f;
        within(v, p.min, p.max, [](const Expr &e) { return e->float_value; });
    } else if (slot.type.is_int()) {
        int unused = 64 - slot.type.bits;
        within(static_cast<int64_t>(bits << unused) >> unused, p.min, p.max,
               [](const Expr &e) { return e->int_value; });
    } else {
        within(bits, p.min, p.max, [](const Expr &e) { return e->uint_value; });
    }
}

void Slots::gather(Outputs outputs, std::vector<Given> &given) const {
    if (outputs.size() != num_outputs_)
        throw RuntimeError(
            fmt::format("The pipeline has {} output values, but was given {} Buffers.",
                        num_outputs_, outputs.size()));
    given.assign(slots_.size(), Given());
    size_t output = 0;
    for (size_t i = 0; i < slots_.size(); i++) {
        const Slot &slot = slots_[i];
        if (slot.kind == Kind::Scalar)
            given[i].bits = slot.param->bits.load(std::memory_order_relaxed);
        else if (slot.kind == Kind::OutputBuffer)
            given[i].buffer = outputs[output++];
        else
            given[i].buffer = slot.image ? &slot.image->buffer : &slot.bound;
    }
}

void Slots::fill(CallArguments &call) const {
    call.buffers_.resize(num_buffers_);  // of a known size: the pointers into it stay
    call.pointers_.resize(slots_.size());
    call.strided_ = 0;
    size_t buffer = 0;
    for (size_t i = 0; i < slots_.size(); i++) {
        const Slot &slot = slots_[i];
        Given &given = call.given[i];
        if (slot.kind == Kind::Scalar) {
            check_limits(slot, given.bits);
            call.pointers_[i] = &given.bits;
            continue;
        }
        check(slot, *given.buffer);
        const BufferView &view = given.buffer->view();
        jit::BufferArgument &arg = call.buffers_[buffer];
        arg.host = view.host;
        for (size_t d = 0; d < view.dims.size(); d++)
            arg.dim[d] = {view.dims[d].min, view.dims[d].extent, view.dims[d].stride};
        if (!view.dims.empty() && view.dims[0].stride != 1)
            call.strided_ |= uint64_t{1} << buffer % 64;
        call.pointers_[i] = &arg;
        buffer++;
    }
}

std::vector<std::string> Slots::dense(uint64_t strided) const {
    std::vector<std::string> names;
    size_t buffer = 0;
    for (const Slot &slot : slots_) {
        if (slot.kind == Kind::Scalar)
            continue;
        bool promised =
            slot.image && slot.dimensions > 0 && slot.image->constraints[0].stride.defined();
        if (slot.dimensions > 0 && !promised && !(strided >> buffer % 64 & 1))
            names.push_back(slot.name);
        buffer++;
    }
    return names;
}

}  // namespace Pipe::driver
