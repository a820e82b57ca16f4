#pragma once
// English for messages.

#include <cstdint>
#include <string>

namespace Pipe::support {

/// "1 argument", "2 arguments"
template <typename Number> std::string counted(Number n, const std::string &noun) {
    return std::to_string(n) + " " + noun + (n == 1 ? "" : "s");
}

}  // namespace Pipe::support
