#pragma once
// Single calls of C functions, for the reference evaluator.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "jit/kernel.h"

namespace Pipe::driver {

/// Compiles a kernel per function and argument types, because only generated code implements the
/// calling convention.
class ExternCalls {
  public:
    /// `call`: graph::call_extern_stage with Variables as arguments; `bits`: their values.
    /// RuntimeError if the function fails, CompileError if it does not exist.
    void run(const Expr &call, const std::vector<uint64_t> &bits);

  private:
    std::map<std::string, jit::Kernel> kernels_;
};

}  // namespace Pipe::driver
