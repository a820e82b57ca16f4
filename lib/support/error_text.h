#pragma once
// Error messages with marked fields: Error removes the marks and fills its ErrorDetails from them,
// so that text and fields cannot differ. A mark is one control character before the field, followed
// by a letter for its kind, and one control character after it. Marked texts can be concatenated
// like any others, and pass through generated code as parts of an Assert's message.

#include <string>

#include <pipe/error.h>

namespace Pipe::support {

enum class Field : char {
    Func = 'f',  ///< also "f.update(0)"
    Dimension = 'd',
    Needed = 'n',
    Given = 'g',
    Place = 'p',      ///< "blur.cpp:12"
    NearPlace = 'q',  ///< the same, if no exact place is known
};

/// The marks around a field.
std::string begin(Field field);
std::string end();

inline std::string marked(Field field, const std::string &text) {
    return begin(field) + text + end();
}
inline std::string marked(Field field, const char *text) {
    return marked(field, std::string(text));
}
template <typename Number> std::string marked(Field field, Number value) {
    return marked(field, std::to_string(value));
}

/// " (blur.cpp:12)" and " at blur.cpp:12", marked; "" where unknown.
std::string in_parentheses(const SourceLocation &where);
std::string at(const SourceLocation &where);

/// Expressions have no source line of their own. Objects that do (a Func, a call of it, an RDom)
/// call passed(), so that an error in an expression can report the last known line: " (at or after
/// blur.cpp:12)", "" if there is none for this thread.
void passed(SourceLocation where);
std::string nearby();

/// The text alone.
std::string without_marks(const std::string &text);

/// Removes the marks from the text and returns the fields. If a field occurs twice, the first one
/// counts.
ErrorDetails take_marks(std::string *text);

}  // namespace Pipe::support
