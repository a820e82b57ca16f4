#pragma once
// CompileErrors that no user gets to see.

namespace Pipe::support {

/// While there is one, this thread's CompileErrors are not told to the CompileTimeErrorReporter: for
/// what is tried, and done otherwise where it fails.
class ErrorsUntold {
  public:
    ErrorsUntold();
    ~ErrorsUntold();
    ErrorsUntold(const ErrorsUntold &) = delete;
};

}  // namespace Pipe::support
