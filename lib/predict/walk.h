#pragma once
// From a lowered program and the sizes of its buffers to a Nest.

#include <string>
#include <unordered_map>

#include "ir/program.h"
#include "predict/nest.h"
#include <pipe/target.h>

namespace Pipe::predict {

/// The values of a program's free variables: "b.min.0", "b.extent.0", "b.stride.0" of its buffers, and its
/// scalars. What is missing is unknown.
using Values = std::unordered_map<std::string, double>;

/// Each statement is visited once. Loops count with their expected number of iterations, branches with their
/// probability over all iterations of the loops around them.
///
/// \param values  of the program's arguments
Nest walk(const ir::Program &program, const Values &values, const Target &target);

}  // namespace Pipe::predict
