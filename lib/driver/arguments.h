#pragma once
// What `realize` hands to the kernel: the checks of Buffers, and the argument array.

#include <memory>
#include <string>
#include <vector>

#include "graph/contents.h"
#include "graph/graph.h"
#include "ir/program.h"
#include "jit/kernel.h"
#include <pipe/realization.h>

namespace Pipe::driver {

/// One argument of the kernel, and where its value comes from.
struct Slot {
    ir::Argument::Kind kind = ir::Argument::Kind::Scalar;
    std::string name;
    Type type;
    int dimensions = 0;
    std::shared_ptr<const graph::ImageContents> image;  ///< of an ImageParam
    Buffer<void> bound;                                 ///< of a Buffer used in an expression
    std::shared_ptr<const graph::ParamContents> param;
};

/// The argument array of one call. Kept per thread, so that a warm call allocates nothing.
class CallArguments {
  public:
    void *const *data() const { return pointers_.data(); }
    /// Bit i: buffer number i has another stride than 1 in dimension 0.
    uint64_t strided() const { return strided_; }

  private:
    friend class Slots;
    std::vector<jit::BufferArgument> buffers_;
    std::vector<uint64_t> scalars_;
    std::vector<void *> pointers_;
    uint64_t strided_ = 0;
};

/// All arguments of a graph's kernel: images, scalars, outputs.
class Slots {
  public:
    explicit Slots(const graph::Graph &graph);

    /// InternalError where the program takes other arguments.
    void check_program(const ir::Program &program) const;

    /// Checks every Buffer and Param. RuntimeError, naming it, where it is undefined, has no
    /// memory, has another type or number of dimensions, an extent below 1, or coordinates beyond
    /// int32.
    void fill(const Realization &outputs, CallArguments &call) const;

    /// Names of the buffers that are taken to be dense in dimension 0 where `strided` is their
    /// mask.
    std::vector<std::string> dense(uint64_t strided) const;

    const std::vector<Slot> &slots() const { return slots_; }
    /// The view of a slot's buffer for one call.
    static const Buffer<void> &buffer_of(const Slot &slot, const Realization &outputs,
                                         size_t output);

  private:
    std::vector<Slot> slots_;
    size_t num_buffers_ = 0, num_outputs_ = 0;

    static void check(const Slot &slot, const Buffer<void> &buffer);
    static void check_limits(const Slot &slot, const void *value);
};

}  // namespace Pipe::driver
