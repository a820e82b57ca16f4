#pragma once
// Kernel: compiled code, ready to run. No LLVM type appears here.

#include <cstdint>
#include <memory>
#include <string>

#include "ir/program.h"
#include "jit/runtime/run_kernel.h"
#include <pipe/target.h>

namespace Pipe::jit {

/// Milliseconds per phase of a compilation.
struct CompileTimes {
    double emit = 0;      ///< loop nest -> LLVM IR
    double optimize = 0;  ///< LLVM IR -> LLVM IR
    double machine = 0;   ///< LLVM IR -> machine code
    double link = 0;      ///< into this process; the first time includes the start of LLVM
    double total() const { return emit + optimize + machine + link; }
};

/// Compiled code. A handle: copies share the code, which lives as long as one of them. Thread-safe.
class Kernel {
  public:
    Kernel() = default;

    bool defined() const { return impl_ != nullptr; }

    /// Calls the code with `args` as described in jit/runtime/abi.h. Returns 0, or an error code with
    /// its message in *error. Throws only exceptions of handlers. Everything that the code
    /// allocated is freed; the scratch memory of the threads is kept for the next run.
    int run(const runtime::RunOptions &options, void *const *args, std::string *error,
            runtime::RunStats *stats = nullptr) const;

    /// Whether it was compiled for a target with the feature Profile.
    bool is_profiled() const;

    /// The code as text. Compiles again, so it is slow.
    std::string llvm_ir() const;
    std::string assembly() const;

    struct Impl;
    explicit Kernel(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}

  private:
    std::shared_ptr<const Impl> impl_;
};

/// Compiles for `target`, whose features must be a subset of the host's: otherwise CompileError.
Kernel compile(const ir::Program &program, const Target &target, CompileTimes *times = nullptr);

}  // namespace Pipe::jit
