#pragma once
// The environment variables that Pipe reads, and hints.

#include <string>

namespace Pipe {

/// A printable description of every environment variable that Pipe reads (PIPE_*, HL_*,
/// OMP_NUM_THREADS; those for tests only are left out), with its meaning and default. Unknown
/// variables whose names start with PIPE_ are reported once on standard error.
std::string describe_environment();

/// Turns hints on or off. There is one hint so far: for a pipeline without any schedule that has
/// run for 50 milliseconds or longer. A hint is printed to standard error, or passed to the
/// CompileTimeErrorReporter, once per process; set_hints(true) allows it once more. If hints are
/// off, warnings go to a CompileTimeErrorReporter only. Hints are on by default, but off in a
/// program that includes <pipe/halide.h>. The environment variable PIPE_HINTS overrides this: 0
/// turns hints off, anything else on.
void set_hints(bool on);

}  // namespace Pipe
