#include "support/env.h"

#include <cstdlib>

namespace Pipe::support {

std::string env(const char *name) {
    const char *value = std::getenv(name);
    return value ? value : "";
}

int env_int(const char *name, int otherwise) {
    std::string text = env(name);
    char *end = nullptr;
    long value = std::strtol(text.c_str(), &end, 10);
    return text.empty() || *end != '\0' ? otherwise : static_cast<int>(value);
}

}  // namespace Pipe::support
