#pragma once
// Reporting of errors and warnings.

#include <string>

namespace Pipe::support {

/// While an object exists, CompileErrors of this thread are not reported to the
/// CompileTimeErrorReporter: for attempts whose failure is handled.
class SuppressErrorReporting {
  public:
    SuppressErrorReporting();
    ~SuppressErrorReporting();
    SuppressErrorReporting(const SuppressErrorReporting &) = delete;
};

/// Reports something that works, but probably not as intended: to the CompileTimeErrorReporter if
/// there is one, else to standard error, the same text only once and not after set_hints(false).
/// `text`: complete sentences, without "Warning:".
void warn(const std::string &text);

/// The same for a hint, if hints are on and none was given before.
void hint(const std::string &text);

}  // namespace Pipe::support
