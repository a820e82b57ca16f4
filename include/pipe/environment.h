#pragma once
// The environment variables that Pipe reads.

#include <string>

namespace Pipe {

/// Every variable PIPE_* with its meaning and what holds where it is not set, as text to print.
/// Variables of that family that mean nothing are warned of on standard error, once.
std::string describe_environment();

}  // namespace Pipe
