#pragma once
// What is wrong with PTX: NVIDIA's assembler, where it is installed, and what it does not see.

#include <string>

namespace Pipe::testing {

/// Whether `ptxas` can be run.
bool has_ptxas();

/// What it says against this PTX, whose own .target it assembles for; "" where it takes it. (Also where there is no
/// PTX, or no assembler.)
std::string ptxas_error(const std::string &ptx);

/// A load from beyond the end of a kernel's parameter, which ptxas takes; "" where there is none.
std::string parameter_fault(const std::string &ptx);

}  // namespace Pipe::testing
