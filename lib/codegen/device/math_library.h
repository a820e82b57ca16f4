#pragma once
// Mathematical functions in kernels: those of libclc, LLVM's library of OpenCL functions (Apache 2.0 with LLVM exception),
// linked into the kernels' module as bitcode. Largest errors that were seen, in ulp, of float: sin 2.1, cos 1.6, exp 0.9,
// log 1.2, pow 0.6, tanh 2.0, atan2 2.3; of double: exp 0.6, sin 1.4, pow 0.5. exp of float flushes subnormal results to 0.

#include <string>
#include <vector>

#include <llvm/IR/Module.h>

#include "codegen/values.h"

namespace Pipe::codegen {

/// A call of the C function `function` ("sin") of float or double, lane by lane.
llvm::Value *emit_device_math(Builder &b, llvm::Module &kernels, Type type,
                              const std::string &function, const std::vector<llvm::Value *> &args);

/// Defines the functions that emit_device_math called. CompileError where libclc is not installed, or has no such
/// function; `pipeline`: for the message.
void link_device_math(llvm::Module &kernels, const std::string &pipeline);

}  // namespace Pipe::codegen
