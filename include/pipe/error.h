#pragma once
// What Pipe throws.

#include <cstdint>
#include <memory>
#include <optional>
#include <source_location>
#include <stdexcept>
#include <string>
#include <utility>

namespace Pipe {

/// A value that was needed, or that was given.
struct ErrorValue {
    std::string text;                 ///< "3", "-1 to 10", "uint8"; "" where the error has none
    std::optional<int64_t> min, max;  ///< of a range, both inclusive; equal for a number
};

/// What an error is about. The same stands in the text of the error; a field that the error has
/// nothing to say about is empty.
struct ErrorDetails {
    std::string func;       ///< the Func, ImageParam, Param, Buffer or image file
    std::string dimension;  ///< a Var of the Func, or the number of a dimension of the Buffer
    ErrorValue needed, given;
    std::string file;  ///< where the Func was defined or used, without folders: "blur.cpp"
    unsigned line = 0;
};

/// Base of everything that Pipe throws. After an error the process, the Buffers and the Pipeline
/// stay usable.
///
/// | error                                       | func      | dimension | needed, given      | file, line |
/// |---------------------------------------------|-----------|-----------|--------------------|------------|
/// | CompileError of a definition or a directive | the Func  | if it is about one | -         | yes        |
/// | CompileError of an operator                 | -         | -         | -                  | near it    |
/// | input or output too small                   | the image | number    | ranges             | of a reader or the output |
/// | broken promise (bound, set_stride, ..)      | the image | number    | ranges, or numbers | of the promise |
/// | element type, number of dimensions          | the image | -         | types, or numbers  | if known   |
/// | size below 0, coordinates beyond 32 bits    | the image | number    | given              | if known   |
/// | Param out of its range                      | the Param | -         | range, number      | -          |
/// | out of memory                               | the Func  | -         | bytes needed       | -          |
/// | misuse of a Buffer                          | the Buffer | number   | numbers, or types  | -          |
struct Error : std::runtime_error {
    explicit Error(const std::string &what);
    /// What what() says, as fields.
    const ErrorDetails &details() const noexcept { return *details_; }

  private:
    using Parsed = std::pair<std::string, std::shared_ptr<const ErrorDetails>>;
    explicit Error(Parsed parsed);
    std::shared_ptr<const ErrorDetails> details_;
};

/// The algorithm or the schedule that the user wrote is wrong. The message names the Func, stage,
/// dimension or expression, the source line of the definition, and what to do.
struct CompileError : Error {
    /// Tells the reporter, if there is one.
    explicit CompileError(const std::string &what);
};

/// Is told of CompileErrors before they are thrown, and of warnings: see
/// set_custom_compile_time_error_reporter.
class CompileTimeErrorReporter {
  public:
    virtual ~CompileTimeErrorReporter() = default;
    /// Something that works, but probably not as it was meant: a schedule of the autoscheduler that
    /// could not be used, a hint (see set_hints). Without a reporter, each goes to standard error
    /// once.
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
