#pragma once
// Debug switches from the environment. This is the only place that calls getenv.
//
//   PIPE_TARGET       target name taken instead of the machine at hand ("x86-64-linux-avx2-fma")
//   PIPE_DUMP         folder into which the LLVM IR and assembly of all compiled code are written
//   PIPE_<NAME>       further switches, each documented where it is read

#include <string>

namespace Pipe::support {

/// The value of an environment variable; "" where it is not set.
std::string env(const char *name);

/// The variable as a whole number; `otherwise` where it is not set or not a number.
int env_int(const char *name, int otherwise);

}  // namespace Pipe::support
