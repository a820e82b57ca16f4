#pragma once
// The exceptions of Pipe.

#include <cstdint>
#include <memory>
#include <optional>
#include <source_location>
#include <stdexcept>
#include <string>
#include <utility>

namespace Pipe {

/// A needed or given value.
struct ErrorValue {
    std::string text;                 ///< "3", "-1 to 10", "uint8"; "" if the error has none
    std::optional<int64_t> min, max;  ///< of a range, both inclusive; equal for a number
};

/// What an error is about: the facts in its message as fields. Fields that do not apply are empty.
struct ErrorDetails {
    std::string func;       ///< the Func, ImageParam, Param, Buffer or image file
    std::string dimension;  ///< a Var of the Func, or the number of a dimension of the Buffer
    ErrorValue needed, given;
    std::string file;  ///< where the Func was defined or used, without directories: "blur.cpp"
    unsigned line = 0;
};

/// Base of all exceptions of Pipe. After an error the process, the Buffers and the Pipeline remain
/// usable.
///
/// | error                                       | func      | dimension | needed, given      | file, line |
/// |---------------------------------------------|-----------|-----------|--------------------|------------|
/// | CompileError of a definition or a directive | the Func  | if it is about one | -         | yes        |
/// | CompileError of an operator                 | -         | -         | -                  | near it    |
/// | input or output too small                   | the image | number    | ranges             | of a reader or the output |
/// | broken promise (bound, set_stride, ..)      | the image | number    | ranges, or numbers | of the promise |
/// | element type, number of dimensions          | the image | -         | types, or numbers  | if known   |
/// | size below 0, coordinates beyond 32 bits    | the image | number    | given              | if known   |
/// | Param out of its range                      | the Param | -         | range, number      | of the Param |
/// | out of memory                               | the Func  | -         | bytes needed       | -          |
/// | misuse of a Buffer                          | the Buffer | number   | numbers, or types  | -          |
struct Error : std::runtime_error {
    explicit Error(const std::string &what);
    /// The facts in what(), as fields.
    const ErrorDetails &details() const noexcept { return *details_; }

  private:
    using Parsed = std::pair<std::string, std::shared_ptr<const ErrorDetails>>;
    explicit Error(Parsed parsed);
    std::shared_ptr<const ErrorDetails> details_;
};

/// An error in the user's algorithm or schedule. The message names the Func, stage, dimension or
/// expression, the source line of the definition, and what to do.
struct CompileError : Error {
    /// Also reports the message to the CompileTimeErrorReporter, if there is one.
    explicit CompileError(const std::string &what);
};

/// Receives CompileErrors before they are thrown, and warnings: see
/// set_custom_compile_time_error_reporter.
class CompileTimeErrorReporter {
  public:
    virtual ~CompileTimeErrorReporter() = default;
    /// Something that works, but probably not as intended: an autoscheduler's schedule that could
    /// not be used, a hint (see set_hints). Without a reporter, each warning is printed to standard
    /// error once.
    virtual void warning(const char *message) = 0;
    /// An exception thrown from here replaces the CompileError.
    virtual void error(const char *message) = 0;
};

/// Sets the reporter for all threads; null: none. Not owned.
void set_custom_compile_time_error_reporter(CompileTimeErrorReporter *reporter);

/// An error at run time: in buffers, sizes, memory or the device.
struct RuntimeError : Error {
    using Error::Error;
};

/// A bug in Pipe. Please report it.
struct InternalError : Error {
    explicit InternalError(const std::string &what)
        : Error("Pipe internal error (a bug of Pipe, please report it): " + what) {}
};

/// A place in the user's source code. Only file and line are kept.
struct SourceLocation {
    const char *file = nullptr;
    unsigned line = 0;

    constexpr SourceLocation() = default;
    constexpr SourceLocation(const std::source_location &loc)
        : file(loc.file_name()), line(loc.line()) {}
    bool known() const { return file != nullptr; }
};

/// "blur.cpp:12", without directories; "" if unknown.
std::string to_string(const SourceLocation &where);

}  // namespace Pipe
