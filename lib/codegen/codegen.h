#pragma once
// From loops over flat memory to machine code. The only door of the LLVM room; no LLVM type is
// seen.

#include <memory>
#include <string>
#include <vector>

#include "ir/program.h"
#include <pipe/target.h>

namespace Pipe::codegen {

struct Options {
    /// Vector mathematics by the functions of glibc's libmvec (x86-64 only). Else one call per
    /// lane.
    bool libmvec = true;
    /// Functions keep a frame pointer and have tables for unwinding, so that debuggers and profilers
    /// find who called them.
    bool frames = false;
    /// Run LLVM's verifier (on by default in debug builds).
#ifdef NDEBUG
    bool verify = false;
#else
    bool verify = true;
#endif
    /// Name of the function to call; "" = one made of the program's.
    std::string entry = {};
};

/// What the profiler calls number i; 0 is what belongs to no Func.
struct ProfiledFunc {
    std::string name;
    int64_t stack_bytes = 0;
};

/// Milliseconds spent in each step.
struct Times {
    double emit = 0;      ///< IR -> LLVM IR
    double kernels = 0;   ///< kernels: LLVM IR -> PTX
    double optimize = 0;  ///< LLVM IR -> LLVM IR
    double machine = 0;   ///< LLVM IR -> object
};

/// An object file in memory (ELF), with one function to call: `entry` (codegen/abi.h).
struct Object {
    std::vector<char> bytes;
    std::string entry;
    Times times;
    std::vector<ProfiledFunc> profiled;  ///< empty without the feature Profile
};

/// Compiles for any target. InternalError where the program is not what lowering promises, or where
/// LLVM refuses it.
Object compile(const ir::Program &program, const Target &target, const Options &options = {});

/// The optimized LLVM IR as text.
std::string llvm_ir(const ir::Program &program, const Target &target, const Options &options = {});

/// The kernels, as PTX; "" where there are none, or where the target emulates them.
std::string ptx(const ir::Program &program, const Target &target, const Options &options = {});

/// The same as LLVM bitcode.
std::string bitcode(const ir::Program &program, const Target &target, const Options &options = {});

/// The assembly that `compile` would put into the object, as text.
std::string assembly(const ir::Program &program, const Target &target, const Options &options = {});

}  // namespace Pipe::codegen
