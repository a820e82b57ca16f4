// Slots: Buffers that share memory.

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "driver/arguments.h"
#include "ir/shared_elements.h"

namespace Pipe::driver {

using Kind = ir::Argument::Kind;

namespace {

/// The position of the elements of a relative to those of b, after the names of the two.
std::string relation(const std::string &name_a, const BufferView &a, const std::string &name_b,
                     const BufferView &b) {
    auto distance = static_cast<char *>(a.host) - static_cast<char *>(b.host);
    if (distance == 0)
        return "their first elements have the same address";
    return fmt::format("the first element of '{}' is {} bytes {} that of '{}'", name_a,
                       std::abs(distance), distance > 0 ? "after" : "before", name_b);
}

}  // namespace

void Slots::check_elements(const Slot &slot, const BufferView &output) const {
    if (ir::has_distinct_elements(output.dims)) [[likely]]
        return;
    for (size_t d = 0; d < output.dims.size(); d++)
        if (output.dims[d].stride == 0 && output.dims[d].extent > 1)
            reject(slot, fmt::format("dimension {} has the extent {} and the stride 0, so all its "
                                     "points are stored to one element. Give an output a stride "
                                     "other than 0 (only inputs may be broadcast), or slice it.",
                                     d, output.dims[d].extent));
    std::vector<int64_t> strides, extents;
    for (const BufferDim &d : output.dims)
        strides.push_back(d.stride), extents.push_back(d.extent);
    reject(slot,
           fmt::format("with the strides {} and the extents {}, several points are stored to one "
                       "element. Give it strides that keep its rows apart.",
                       fmt::join(strides, ", "), fmt::join(extents, ", ")));
}

/// The outputs are the last slots.
void Slots::check_overlaps(CallArguments &call) const {
    call.variant.in_place.clear();
    for (size_t output = slots_.size() - num_outputs_; output < slots_.size(); output++)
        for (size_t other = 0; other < output; other++)
            if (call.addresses_[output].overlap(call.addresses_[other])) [[unlikely]]
                found_overlap(call, output, other);
}

namespace {

/// Of a Buffer that is only on a device, with its address there.
BufferView view_in_memory(const BufferBase &buffer) {
    BufferView view = buffer.view();
    if (!view.host)
        view.host = reinterpret_cast<void *>(buffer.raw_buffer()->device);
    return view;
}

}  // namespace

void Slots::found_overlap(CallArguments &call, size_t output, size_t other) const {
    const BufferView a = view_in_memory(*call.given[output].buffer),
                     b = view_in_memory(*call.given[other].buffer);
    if (!ir::share_elements(a, b))
        return;
    if (slots_[other].kind == Kind::OutputBuffer)
        reject(slots_[output],
               fmt::format("it shares elements with the output '{}': {}. Give each a Buffer "
                           "with separate memory.",
                           slots_[other].name,
                           relation(slots_[output].name, a, slots_[other].name, b)));
    call.variant.in_place.push_back({output, other, ir::same_places(a, b)});
}

std::vector<ir::InPlace> Slots::names(const std::vector<InPlace> &in_place) const {
    std::vector<ir::InPlace> result;
    for (const InPlace &pair : in_place)
        result.push_back({slots_[pair.output].name, slots_[pair.input].name, pair.same_places});
    return result;
}

std::vector<InPlace> Slots::declared_in_place() const {
    std::vector<InPlace> result;
    for (size_t output = slots_.size() - num_outputs_; output < slots_.size(); output++)
        for (size_t input = 0; input < slots_.size(); input++) {
            const std::vector<std::string> &declared = slots_[output].promise.may_alias;
            if (slots_[input].kind == Kind::InputBuffer &&
                std::find(declared.begin(), declared.end(), slots_[input].name) != declared.end())
                result.push_back({output, input, true});
        }
    return result;
}

void Slots::reject_in_place(const CallArguments &call, const InPlace &in_place,
                            const std::string &why) const {
    const Slot &output = slots_[in_place.output], &input = slots_[in_place.input];
    const BufferView a = view_in_memory(*call.given[in_place.output].buffer),
                     b = view_in_memory(*call.given[in_place.input].buffer);
    reject(output, fmt::format("it shares elements with the input '{}': {}. That would give wrong "
                               "values: {} A copy of the input (Buffer::copy) always works.",
                               input.name, relation(output.name, a, input.name, b), why));
}

}  // namespace Pipe::driver
