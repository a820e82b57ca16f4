#pragma once
// Code generation: from loops over flat memory to machine code. With abi.h and gpu_abi.h (what
// generated code and the run time agree on), the only interface of this layer to others; no LLVM type
// appears here.

#include <memory>
#include <string>
#include <vector>

#include "ir/program.h"
#include "jit/runtime/profiled_func.h"
#include <pipe/target.h>

namespace Pipe::codegen {

struct Options {
    /// Use the vector functions of glibc's libmvec (x86-64 only). Otherwise one call per lane.
    bool libmvec = true;
    /// Functions keep a frame pointer and have unwind tables, so that debuggers and profilers can
    /// find their callers.
    bool frames = false;
    /// Run LLVM's verifier (on by default in debug builds).
#ifdef NDEBUG
    bool verify = false;
#else
    bool verify = true;
#endif
    /// At most so many object files, which are made at the same time.
    int threads = 1;
    /// Name of the entry function; "" = derived from the program's name.
    std::string entry = {};
};

/// Milliseconds spent in each step.
struct Times {
    double emit = 0;      ///< IR -> LLVM IR
    double kernels = 0;   ///< kernels: LLVM IR -> PTX
    double optimize = 0;  ///< LLVM IR -> LLVM IR; part of `machine` where several objects are made
    double machine = 0;   ///< LLVM IR -> objects
};

/// Object files in memory (ELF) that belong together, with one function to call: `entry` (jit/runtime/abi.h).
struct Objects {
    std::vector<std::vector<char>> files;
    std::string entry;
    Times times;
    std::vector<runtime::ProfiledFunc> profiled;  ///< empty without the feature Profile
};

/// Compiles for any target. InternalError if the program violates the guarantees of lowering, or if
/// LLVM rejects it.
Objects compile(const ir::Program &program, const Target &target, const Options &options = {});

/// The optimized LLVM IR as text.
std::string llvm_ir(const ir::Program &program, const Target &target, const Options &options = {});

/// The kernels, as PTX; "" where there are none, or where the target emulates them.
std::string ptx(const ir::Program &program, const Target &target, const Options &options = {});

/// The same as LLVM bitcode.
std::string bitcode(const ir::Program &program, const Target &target, const Options &options = {});

/// The assembly that `compile` would put into the object, as text.
std::string assembly(const ir::Program &program, const Target &target, const Options &options = {});

}  // namespace Pipe::codegen
