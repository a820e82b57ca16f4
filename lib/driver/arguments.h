#pragma once
// Arguments of the kernel: checks of Buffers, and the argument array.

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "ir/program.h"
#include "jit/kernel.h"
#include "jit/runtime/gpu/run.h"
#include "language/contents.h"
#include "language/freeze.h"
#include <pipe/buffer.h>

namespace Pipe::driver {

/// One argument of the kernel, and the source of its value.
struct Slot {
    ir::Argument::Kind kind = ir::Argument::Kind::Scalar;
    std::string name;
    Type type;
    int dimensions = 0;
    std::shared_ptr<const language::ImageContents> image;  ///< of an ImageParam
    Buffer<void> bound;                                    ///< of a Buffer used in an expression
    std::shared_ptr<const language::ParamContents> param;
    graph::BufferPromise promise;
    SourceLocation
        where;  ///< of the definition of an output, of the Param or ImageParam, of the first use of a Buffer
};

/// The Buffers of the outputs, one per value.
using Outputs = std::span<const BufferBase *const>;

/// The value of a slot in one call.
struct ArgumentValue {
    const BufferBase *buffer = nullptr;
    uint64_t bits = 0;  ///< of a scalar, in the first bytes
};

/// An output whose Buffer shares elements with that of an input.
struct InPlace {
    size_t output, input;  ///< slots
    bool same_places;      ///< see ir::InPlace
    bool operator==(const InPlace &) const = default;
};

/// The address range from the lowest to one past the highest element of a Buffer.
struct Addresses {
    uintptr_t begin = 0, end = 0;
    bool overlap(const Addresses &other) const { return begin < other.end && other.begin < end; }
};

/// The strides of a Buffer, as far as kernels are compiled for them.
struct Layout {
    /// Stride of dimension 0. 1: dense; 2 to 4: interleaved channels; 0: any.
    uint8_t stride = 0;
    uint8_t channel_dim = 0;  ///< interleaved: the dimension of the channels, with stride 1
    uint8_t second =
        0;  ///< stride of dimension 1 where dimension 0 has 2 to 4 dense channels; 0: any
    bool operator==(const Layout &) const = default;
};

/// What distinguishes the kernels of one schedule.
struct Variant {
    std::vector<Layout> layouts;  ///< one per slot
    std::vector<InPlace> in_place;
    bool any_size = false;  ///< see lower::LowerOptions
    bool large_buffers = false;  ///< kernels for a GPU have indices of 64 bits
    bool operator==(const Variant &) const = default;
};

/// The argument array of one call.
class CallArguments {
  public:
    void *const *data() const { return pointers_.data(); }

    /// Outputs that share elements with inputs.
    const std::vector<InPlace> &in_place() const { return variant.in_place; }

    /// Whether no output has any element.
    bool nothing_wanted() const { return nothing_wanted_; }

    std::vector<ArgumentValue> given;  ///< one per slot
    Variant variant;                   ///< the kernel for these arguments

  private:
    friend class Slots;
    std::vector<runtime::BufferArgument> buffers_;
    std::vector<runtime::DeviceBuffer> device_buffers_;  ///< for targets with kernels for a GPU
    std::vector<runtime::ArgumentBuffer> owners_;        ///< the same
    std::vector<void *> pointers_;
    std::vector<Addresses> addresses_;  ///< one per slot
    bool nothing_wanted_ = false;
};

/// CallArguments for the duration of one call. The thread caches them, so that a warm call does not
/// allocate; a nested call (by a handler) gets others.
class BorrowedArguments {
  public:
    BorrowedArguments();
    ~BorrowedArguments();
    BorrowedArguments(const BorrowedArguments &) = delete;
    CallArguments &operator*() const { return *arguments_; }
    CallArguments *operator->() const { return arguments_.get(); }

  private:
    std::unique_ptr<CallArguments> arguments_;
};

/// All arguments of a graph's kernel: images, scalars, outputs.
class Slots {
  public:
    explicit Slots(const language::Frozen &frozen);

    /// InternalError if the program has different arguments.
    void check_program(const ir::Program &program) const;

    /// The present values of the ImageParams and Params, and these outputs.
    void gather(Outputs outputs, std::vector<ArgumentValue> &given) const;

    /// Checks the given values and builds the argument array. RuntimeError, naming the pipeline and
    /// the argument, if a Buffer is undefined, has no memory, has the wrong type or number of
    /// dimensions, a negative extent, or coordinates beyond int32; or if two outputs, or two
    /// coordinates of one output, share memory. `on_device`: for code that has kernels for a GPU. For other
    /// code, elements that are newer on a device are copied to the host.
    void fill(CallArguments &call, bool on_device) const;

    /// The names of the buffers that share memory.
    std::vector<ir::InPlace> names(const std::vector<InPlace> &in_place) const;
    /// The pairs declared with may_alias, in the same form.
    std::vector<InPlace> declared_in_place() const;
    /// RuntimeError that describes the overlap of the Buffers, and why it is wrong.
    [[noreturn]] void reject_in_place(const CallArguments &call, const InPlace &in_place,
                                      const std::string &why) const;

    /// The layouts of Buffers of these shapes, one per slot.
    std::vector<Layout> layouts(const std::vector<std::vector<BufferDim>> &shapes) const;
    /// The layouts of dense Buffers.
    std::vector<Layout> dense_layouts() const;
    /// The strides that these layouts imply.
    std::vector<ir::KnownStride> strides(const std::vector<Layout> &layouts) const;

    const std::vector<Slot> &slots() const { return slots_; }
    /// The name of the pipeline, for messages.
    const std::string &pipeline() const { return pipeline_; }

  private:
    std::vector<Slot> slots_;
    size_t num_buffers_ = 0, num_outputs_ = 0;
    std::string pipeline_;  ///< for messages

    /// The view of a Buffer that the kernel uses.
    BufferView checked(const Slot &slot, const BufferBase &buffer, bool on_device) const;
    void take_to_host(const Slot &slot, const BufferBase &buffer) const;
    void check_elements(const Slot &slot, const BufferView &output) const;
    void check_overlaps(CallArguments &call) const;
    void found_overlap(CallArguments &call, size_t output, size_t other) const;
    void check_limits(const Slot &slot, uint64_t bits) const;
    [[noreturn]] void reject(const Slot &slot, const std::string &why) const;
};

}  // namespace Pipe::driver
