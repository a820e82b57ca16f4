#pragma once
// Grammar of messages, and escaping for HTML.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace Pipe::support {

/// "1 argument", "2 arguments"
template <typename Number> std::string counted(Number n, const std::string &noun) {
    return std::to_string(n) + " " + noun + (n == 1 ? "" : "s");
}

/// "x, y, c"
inline std::string join(const std::vector<std::string> &list) {
    std::string result;
    for (const std::string &item : list)
        result += (result.empty() ? "" : ", ") + item;
    return result;
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
