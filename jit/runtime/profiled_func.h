#pragma once
// What the profiler's table stands for.

#include <cstdint>
#include <string>

namespace Pipe::runtime {

/// Entry i of the table; entry 0 is for time outside of all Funcs.
struct ProfiledFunc {
    std::string name;
    int64_t stack_bytes = 0;
};

}  // namespace Pipe::runtime
