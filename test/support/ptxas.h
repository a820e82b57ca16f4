#pragma once
// NVIDIA's assembler for PTX, where it is installed.

#include <string>

namespace Pipe::testing {

/// Whether `ptxas` can be run.
bool has_ptxas();

/// What it says against this PTX, whose own .target it assembles for; "" where it takes it. (Also where there is no
/// PTX, or no assembler.)
std::string ptxas_error(const std::string &ptx);

}  // namespace Pipe::testing
