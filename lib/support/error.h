#pragma once
// Who is told of errors and warnings.

#include <string>

namespace Pipe::support {

/// While there is one, this thread's CompileErrors are not told to the CompileTimeErrorReporter: for
/// what is tried, and done otherwise where it fails.
class ErrorsUntold {
  public:
    ErrorsUntold();
    ~ErrorsUntold();
    ErrorsUntold(const ErrorsUntold &) = delete;
};

/// Tells of something that works, but not as it was meant: the CompileTimeErrorReporter, else
/// standard error, the same text once and not where set_hints(false) holds. `text`: whole sentences,
/// without "Warning:".
void warn(const std::string &text);

/// The same for a hint, where hints are on and none was given before.
void hint(const std::string &text);

}  // namespace Pipe::support
