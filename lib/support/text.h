#pragma once
// Grammar of messages, and escaping for HTML.

#include <cstdint>
#include <string>
#include <string_view>

namespace Pipe::support {

/// "1 argument", "2 arguments"
template <typename Number> std::string counted(Number n, const std::string &noun) {
    return std::to_string(n) + " " + noun + (n == 1 ? "" : "s");
}

/// Escapes text for an HTML page.
inline std::string html(std::string_view text) {
    std::string result;
    for (char c : text)
        if (c == '<')
            result += "&lt;";
        else if (c == '>')
            result += "&gt;";
        else if (c == '&')
            result += "&amp;";
        else
            result += c;
    return result;
}

}  // namespace Pipe::support
