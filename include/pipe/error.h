#pragma once
// What Pipe throws.

#include <source_location>
#include <stdexcept>
#include <string>

namespace Pipe {

/// Base of everything that Pipe throws. After an error the process, the Buffers and the Pipeline
/// stay usable.
struct Error : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// The algorithm or the schedule that the user wrote is wrong. The message names the Func, stage,
/// dimension or expression, the source line of the definition, and what to do.
struct CompileError : Error {
    /// Tells the reporter, if there is one.
    explicit CompileError(const std::string &what);
};

/// Is told of CompileErrors before they are thrown: see set_custom_compile_time_error_reporter.
class CompileTimeErrorReporter {
  public:
    virtual ~CompileTimeErrorReporter() = default;
    /// What is no error. Pipe has none of these so far.
    virtual void warning(const char *message) = 0;
    /// What may be thrown from here goes to the user in place of the CompileError.
    virtual void error(const char *message) = 0;
};

/// The one that is told from here on, in all threads; null: none. It is not owned.
void set_custom_compile_time_error_reporter(CompileTimeErrorReporter *reporter);

/// Buffers, sizes, memory or the device are wrong at run time.
struct RuntimeError : Error {
    using Error::Error;
};

/// A bug of Pipe's own. Please report it.
struct InternalError : Error {
    explicit InternalError(const std::string &what)
        : Error("Pipe internal error (a bug of Pipe, please report it): " + what) {}
};

/// Where in the user's program something was written. Only file and line are kept.
struct SourceLocation {
    const char *file = nullptr;
    unsigned line = 0;

    constexpr SourceLocation() = default;
    constexpr SourceLocation(const std::source_location &loc)
        : file(loc.file_name()), line(loc.line()) {}
    bool known() const { return file != nullptr; }
};

/// "blur.cpp:12", or "" where unknown. The file without its folders.
std::string to_string(const SourceLocation &where);

}  // namespace Pipe
