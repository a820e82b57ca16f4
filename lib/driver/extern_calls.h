#pragma once
// C functions called one by one, for the reference evaluator.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "jit/kernel.h"

namespace Pipe::driver {

/// Compiles a kernel per function and kinds of arguments: nothing else knows how C passes them.
class ExternCalls {
  public:
    /// `call`: graph::call_extern_stage with Variables as arguments; `bits`: their values.
    /// RuntimeError where the function fails, CompileError where there is none.
    void run(const Expr &call, const std::vector<uint64_t> &bits);

  private:
    std::map<std::string, jit::Kernel> kernels_;
};

}  // namespace Pipe::driver
