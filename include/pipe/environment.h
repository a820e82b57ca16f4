#pragma once
// The environment variables that Pipe reads, and hints.

#include <string>

namespace Pipe {

/// Every variable PIPE_* with its meaning and what holds where it is not set, as text to print.
/// Variables of that family that mean nothing are warned of on standard error, once.
std::string describe_environment();

/// Whether Pipe gives hints: so far one, when a pipeline without any schedule has run for 50
/// milliseconds or longer. A hint is printed on standard error, or told to the
/// CompileTimeErrorReporter, once in the life of the process; set_hints(true) makes it due again.
/// Where hints are off, warnings go to a CompileTimeErrorReporter only. On at first, but off in a
/// program that includes <pipe/halide.h>. The environment variable PIPE_HINTS, where it is set, is
/// stronger: 0 turns hints off, anything else on.
void set_hints(bool on);

}  // namespace Pipe
