#include "driver/arguments.h"
#include "support/error_text.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "support/text.h"

namespace Pipe::driver {

using language::ImageContents;
using language::ParamContents;
using support::Field;
using support::marked;
using Kind = ir::Argument::Kind;

namespace {

/// "2 dimensions", with the number marked.
template <typename Number> std::string counted(Field field, Number n, const std::string &noun) {
    return marked(field, n) + support::counted(n, noun).substr(std::to_string(n).size());
}

std::string range(Field field, int64_t min, int64_t max) {
    return marked(field, fmt::format("{} to {}", min, max));
}

std::unique_ptr<CallArguments> &kept_arguments() {
    thread_local std::unique_ptr<CallArguments> kept;
    return kept;
}

}  // namespace

Slots::Slots(const language::Frozen &frozen) : pipeline_(graph::description(frozen.graph)) {
    const graph::Graph &graph = frozen.graph;
    for (size_t i = 0; i < graph.images.size(); i++) {
        const graph::Image &image = graph.images[i];
        Slot slot{Kind::InputBuffer, image.name,    image.type,
                  image.dimensions,  nullptr,       image.bound,
                  nullptr,           image.promise, {}};
        slot.image = frozen.images[i];
        slot.where = image.where;
        slots_.push_back(slot);
    }
    for (size_t i = 0; i < graph.scalars.size(); i++) {
        Slot slot;
        slot.name = graph.scalars[i].name;
        slot.type = graph.scalars[i].type;
        slot.param = frozen.scalars[i];
        slot.where = slot.param->where;
        slots_.push_back(slot);
    }
    for (FuncId id : graph.outputs) {
        const graph::FuncNode &f = graph[id];
        for (size_t i = 0; i < f.types.size(); i++) {
            Slot slot{Kind::OutputBuffer,
                      graph::buffer_name(f, i),
                      f.types[i],
                      static_cast<int>(f.args.size()),
                      nullptr,
                      {},
                      nullptr,
                      {},
                      f.where};
            if (i < f.output_promises.size())
                slot.promise = f.output_promises[i];
            slots_.push_back(slot);
        }
    }
    for (const Slot &slot : slots_) {
        num_buffers_ += slot.kind != Kind::Scalar;
        num_outputs_ += slot.kind == Kind::OutputBuffer;
        if (slot.dimensions > runtime::max_dimensions)
            throw CompileError(
                fmt::format("{}: '{}'{} has {} dimensions, but inputs and outputs have at most {}. "
                            "Combine some of them.",
                            pipeline_, marked(Field::Func, slot.name), language::at(slot.where),
                            marked(Field::Given, slot.dimensions), runtime::max_dimensions));
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

/// How to fix a type mismatch: the end of a sentence, and perhaps another one.
std::string cast_advice(const Slot &slot, Type given, const std::vector<Slot> &slots) {
    if (slot.kind != Kind::OutputBuffer)
        return "or convert the image first.";
    const std::string advice = "or cast<...>() the value of the Func.";
    const Type wide = Float(64);
    const bool silently = slot.type == wide && given == Float(32) &&
                          std::none_of(slots.begin(), slots.end(), [&](const Slot &s) {
                              return s.kind != Kind::OutputBuffer && s.type == wide;
                          });
    return silently
               ? advice + " No input is float64: a literal such as 0.25 is a double, and makes "
                          "float64 of what it is combined with; write 0.25f."
               : advice;
}

}  // namespace

void Slots::reject(const Slot &slot, const std::string &why) const {
    throw RuntimeError(fmt::format("{}: {} '{}'{}: {}", pipeline_, role(slot),
                                   marked(Field::Func, slot.name), language::at(slot.where), why));
}

/// The code will run on the host alone.
void Slots::take_to_host(const Slot &slot, const BufferBase &buffer) const {
    if (!buffer.view().host)
        reject(slot,
               "the Buffer given has memory only on a device, but this pipeline runs on the "
               "host. Pass a Buffer with host memory, or realize for a target with CUDA, such as "
               "Target(\"host-cuda\").");
    try {
        buffer.copy_to_host();
    } catch (const RuntimeError &error) {
        reject(slot, error.what());
    }
    if (slot.kind == Kind::OutputBuffer && buffer.has_device_allocation())
        buffer.set_host_dirty();
}

BufferView Slots::checked(const Slot &slot, const BufferBase &buffer, bool on_device) const {
    if (!buffer.defined()) {
        if (slot.image)
            reject(slot, "no Buffer was given (nullptr). Call set() on the ImageParam before "
                         "realize(), or give the Callable a Buffer.");
        reject(slot, "the Buffer given is undefined (nullptr). Give it sizes: Buffer<...> b(width, "
                     "height).");
    }
    const BufferView view = buffer.view();
    if (view.type != slot.type)
        reject(slot, fmt::format("it needs elements of {0}, but the Buffer given has {1}. Pass a "
                                 "Buffer of {0}, {2}",
                                 marked(Field::Needed, to_string(slot.type)),
                                 marked(Field::Given, to_string(view.type)),
                                 cast_advice(slot, view.type, slots_)));
    if (static_cast<int>(view.dims.size()) != slot.dimensions)
        reject(slot, fmt::format("it needs {}, but the Buffer given has {}. Pass one of that many, "
                                 "or use sliced() or embedded() on it.",
                                 counted(Field::Needed, slot.dimensions, "dimension"),
                                 marked(Field::Given, view.dims.size())));
    for (size_t d = 0; d < view.dims.size(); d++) {
        const BufferDim &dim = view.dims[d];
        if (dim.extent < 0)
            reject(slot,
                   fmt::format("the extent of dimension {} is {}, but must be at least 0. "
                               "Give a min and an extent, not two ends.",
                               marked(Field::Dimension, d), marked(Field::Given, dim.extent)));
        if (dim.min < INT32_MIN || dim.min + dim.extent - 1 > INT32_MAX || dim.extent > INT32_MAX)
            reject(slot,
                   fmt::format("dimension {} runs from {}, but coordinates are 32-bit integers. "
                               "Move it with set_min(), or crop it.",
                               marked(Field::Dimension, d),
                               range(Field::Given, dim.min, dim.min + dim.extent - 1)));
    }
    if (!view.host && !buffer.has_device_allocation())
        reject(slot, "the Buffer given has no memory (a null pointer). Call allocate() on it.");
    auto misplaced = reinterpret_cast<uintptr_t>(view.host) %
                     static_cast<uintptr_t>(slot.promise.host_alignment);
    if (misplaced != 0)
        reject(slot,
               fmt::format("its memory was promised to be aligned to {} bytes "
                           "(set_host_alignment), but begins {} bytes after an aligned address. "
                           "Align its memory, or promise a smaller alignment.",
                           marked(Field::Needed, slot.promise.host_alignment),
                           marked(Field::Given, misplaced)));
    if (!on_device && (buffer.has_device_allocation() || buffer.device_dirty())) [[unlikely]]
        take_to_host(slot, buffer);
    return view;
}

void Slots::check_limits(const Slot &slot, uint64_t bits) const {
    auto within = [&](auto v, const Expr &low, const Expr &high, auto bound) {
        if ((!low.defined() || v >= bound(low)) && (!high.defined() || v <= bound(high)))
            return;
        auto end = [&](const Expr &e) {
            return e.defined() ? fmt::format("{}", bound(e)) : std::string("any");
        };
        throw RuntimeError(fmt::format(
            "{}: {} is {}, but its range is {}. Set a value within the range "
            "with set(), or widen the range with set_range().",
            pipeline_, slot.param->description(), marked(Field::Given, fmt::format("{}", v)),
            marked(Field::Needed, end(low) + " to " + end(high))));
    };
    const ParamContents &p = *slot.param;
    if (!p.min.defined() && !p.max.defined())
        return;
    if (slot.type.is_float()) {
        double v = 0;
        float f = 0;
        std::memcpy(&f, &bits, sizeof f);
        std::memcpy(&v, &bits, sizeof v);
        const auto half = static_cast<uint16_t>(bits);
        if (slot.type.bits() == 32)
            v = f;
        else if (slot.type.bits() == 16)
            v = slot.type.is_bfloat() ? static_cast<float>(bfloat16_t::make_from_bits(half))
                                      : static_cast<float>(float16_t::make_from_bits(half));
        within(v, p.min, p.max, [](const Expr &e) { return e->float_value; });
    } else if (slot.type.is_int()) {
        int unused = 64 - slot.type.bits();
        within(static_cast<int64_t>(bits << unused) >> unused, p.min, p.max,
               [](const Expr &e) { return e->int_value; });
    } else {
        within(bits, p.min, p.max, [](const Expr &e) { return e->uint_value; });
    }
}

void Slots::gather(Outputs outputs, std::vector<ArgumentValue> &given) const {
    if (outputs.size() != num_outputs_)
        throw RuntimeError(
            fmt::format("{} has {}, but was given {}. Give one Buffer per value of each output.",
                        pipeline_, counted(Field::Needed, num_outputs_, "output value"),
                        counted(Field::Given, outputs.size(), "Buffer")));
    given.assign(slots_.size(), ArgumentValue());
    size_t output = 0;
    for (size_t i = 0; i < slots_.size(); i++) {
        const Slot &slot = slots_[i];
        if (slot.kind == Kind::Scalar) {
            if (!slot.param->is_set.load(std::memory_order_relaxed))
                throw RuntimeError(
                    fmt::format("{}: {} has no value. Call its set() before the pipeline runs.",
                                pipeline_, slot.param->description()));
            given[i].bits = slot.param->bits.load(std::memory_order_relaxed);
        } else if (slot.kind == Kind::OutputBuffer) {
            given[i].buffer = outputs[output++];
        } else {
            given[i].buffer = slot.image ? &slot.image->buffer : &slot.bound;
        }
    }
}

namespace {

/// Whether no layout has to be distinguished: because of a promise, or without dimensions.
bool has_known_layout(const Slot &slot) {
    return slot.dimensions == 0 ||
           (!slot.promise.dims.empty() && slot.promise.dims[0].stride.defined());
}

constexpr int64_t most_channels = 4;

/// The pairs of complex numbers, or the channels of a color, that are dimension 0 of an array that is dense there: vectors go
/// along dimension 1, in which elements are so far apart. 0: it is another array.
int64_t dense_channels(std::span<const BufferDim> dims) {
    constexpr int64_t least_length = 16;
    const bool has_channels = dims.size() > 1 && dims[0].extent >= 2 &&
                              dims[0].extent <= most_channels && dims[1].extent >= least_length;
    return has_channels && dims[1].stride == dims[0].extent ? dims[0].extent : 0;
}

Layout layout_of(const Slot &slot, std::span<const BufferDim> dims) {
    if (has_known_layout(slot))
        return {};
    const int64_t stride = dims[0].stride;
    if (stride == 1)
        return {1, 0, static_cast<uint8_t>(dense_channels(dims))};
    if (stride >= 2 && stride <= most_channels)
        for (size_t d = 1; d < dims.size(); d++)
            if (dims[d].stride == 1 && dims[d].extent >= 2 && dims[d].extent <= stride)
                return {static_cast<uint8_t>(stride), static_cast<uint8_t>(d)};
    return {};
}

}  // namespace

void Slots::fill(CallArguments &call, bool on_device) const {
    call.buffers_.resize(num_buffers_);  // preallocated: pointers into it stay valid
    call.device_buffers_.resize(on_device ? num_buffers_ : 0);
    call.owners_.resize(on_device ? num_buffers_ : 0);
    call.pointers_.resize(slots_.size());
    call.addresses_.resize(slots_.size());
    call.variant.layouts.assign(slots_.size(), {});
    call.variant.any_size = call.variant.large_buffers = false;
    call.nothing_wanted_ = true;
    size_t buffer = 0;
    for (size_t i = 0; i < slots_.size(); i++) {
        const Slot &slot = slots_[i];
        ArgumentValue &given = call.given[i];
        if (slot.kind == Kind::Scalar) {
            check_limits(slot, given.bits);
            call.pointers_[i] = &given.bits;
            call.addresses_[i] = {};
            continue;
        }
        const BufferView view = checked(slot, *given.buffer, on_device);
        runtime::BufferArgument &arg = call.buffers_[buffer];
        arg.host = view.host;
        arg.device = nullptr;
        bool empty = false;
        int64_t low = 0, high = 1;  // offsets in elements from the host address
        for (size_t d = 0; d < view.dims.size(); d++) {
            const BufferDim &dim = view.dims[d];
            arg.dim[d] = {dim.min, dim.extent, dim.stride};
            empty |= dim.extent == 0;
            (dim.stride < 0 ? low : high) += dim.stride * (dim.extent - 1);
        }
        const uintptr_t host =
            view.host ? reinterpret_cast<uintptr_t>(view.host) : given.buffer->raw_buffer()->device;
        const auto bytes = static_cast<uintptr_t>(slot.type.bytes());
        call.addresses_[i] = {host + static_cast<uintptr_t>(low) * bytes,
                              empty ? 0 : host + static_cast<uintptr_t>(high) * bytes};
        if (on_device) {
            runtime::DeviceBuffer &device = call.device_buffers_[buffer];
            runtime::fill_argument(slot.name.c_str(), *given.buffer, &arg, &device,
                                   &call.owners_[buffer]);
            call.variant.large_buffers |= !runtime::fits_narrow_indices(device);
        }
        if (slot.kind == Kind::OutputBuffer)
            check_elements(slot, view);
        call.nothing_wanted_ &= empty || slot.kind != Kind::OutputBuffer;
        call.variant.layouts[i] = layout_of(slot, view.dims);
        call.pointers_[i] = &arg;
        buffer++;
    }
    check_overlaps(call);
}

std::vector<Layout> Slots::layouts(const std::vector<std::vector<BufferDim>> &shapes) const {
    std::vector<Layout> layouts;
    for (size_t i = 0; i < slots_.size(); i++)
        layouts.push_back(slots_[i].kind == Kind::Scalar ? Layout{}
                                                         : layout_of(slots_[i], shapes[i]));
    return layouts;
}

std::vector<Layout> Slots::dense_layouts() const {
    std::vector<Layout> layouts;
    for (const Slot &slot : slots_)
        layouts.push_back({has_known_layout(slot) ? uint8_t{0} : uint8_t{1}, 0});
    return layouts;
}

std::vector<ir::KnownStride> Slots::strides(const std::vector<Layout> &layouts) const {
    std::vector<ir::KnownStride> strides;
    for (size_t i = 0; i < slots_.size(); i++) {
        if (layouts[i].stride > 0)
            strides.push_back({slots_[i].name, 0, layouts[i].stride});
        if (layouts[i].channel_dim > 0)
            strides.push_back({slots_[i].name, layouts[i].channel_dim, 1});
        if (layouts[i].second > 0)
            strides.push_back({slots_[i].name, 1, layouts[i].second});
    }
    return strides;
}

}  // namespace Pipe::driver
