#pragma once
// Terse construction of printed loop nests.

#include <string>

namespace Pipe::testing {

/// `lines` with spaces in front of each.
inline std::string indented(const std::string &lines, size_t spaces = 2) {
    std::string result;
    for (size_t at = 0; at < lines.size();) {
        const size_t next = lines.find('\n', at) + 1;
        result += std::string(spaces, ' ') + lines.substr(at, next - at);
        at = next;
    }
    return result;
}

/// `head { body }`
inline std::string around(const std::string &head, const std::string &body) {
    return head + " {\n" + indented(body) + "}\n";
}

}  // namespace Pipe::testing
