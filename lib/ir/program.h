#pragma once
// Program: the output of lowering and the input of code generation.

#include <set>
#include <string>
#include <vector>

#include "ir/stmt_node.h"

namespace Pipe::ir {

/// One parameter of the compiled kernel, in the order of the kernel's `args` array.
///
/// In the body a buffer `b` is read and written by Load/Store named `b`, and described by the free
/// Variables "b.min.<d>", "b.extent.<d>" (int32) and "b.stride.<d>" (int64, in elements). A Load/Store
/// index counts elements from the address of the element at (min.0, min.1, ...). A scalar is the free
/// Variable of its name.
struct Argument {
    enum class Kind : uint8_t { InputBuffer, OutputBuffer, Scalar };
    Kind kind = Kind::Scalar;
    std::string name;
    Type type;
    int dimensions = 0;  ///< buffers
};

/// The names of those Variables of dimension `d`.
inline std::string min_name(const std::string &buffer, size_t d) {
    return buffer + ".min." + std::to_string(d);
}
inline std::string extent_name(const std::string &buffer, size_t d) {
    return buffer + ".extent." + std::to_string(d);
}
inline std::string stride_name(const std::string &buffer, size_t d) {
    return buffer + ".stride." + std::to_string(d);
}

/// A stride of an input or output for which a kernel is compiled. The kernel checks it.
struct KnownStride {
    std::string buffer;
    size_t dim;
    int64_t value;  ///< in elements
};

/// An output of a kernel that shares memory with an input.
struct InPlace {
    std::string output, input;  ///< names of the buffers
    /// Each element of the output has the same address as the element of the input with the same
    /// coordinates.
    bool same_places = false;
};

/// The reason of a failing Assert of a kernel: StmtNode::code, and the kernel's return value.
enum class Failure : int32_t {
    None = 0,
    InputTooSmall,   ///< an input does not hold the region that is read
    OutputTooSmall,  ///< an output does not hold the region that is written
    BadConstraint,   ///< a buffer breaks a promise (bound, set_min, set_extent, set_stride)
    OutOfMemory,
    ExternStage,        ///< the C function of an extern stage returned a nonzero value
    RequirementFailed,  ///< Pipeline::add_requirement
    BadArgument,        ///< an argument of the call is invalid: the kernel was not run
};

/// A whole pipeline as loops over flat memory. No Provide, Realize or Call Func/Image remains.
struct Program {
    std::string name;
    std::vector<Argument> args;
    Stmt body;
    /// Buffers whose stores, or loads, bypass the caches.
    std::set<std::string> nontemporal_stores = {}, nontemporal_loads = {};
    /// Funcs whose time and memory the profiler attributes to the enclosing Func.
    std::set<std::string> unprofiled = {};
    /// All other outputs have separate memory; inputs may overlap each other.
    std::vector<InPlace> in_place = {};
};

}  // namespace Pipe::ir
