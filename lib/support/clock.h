#pragma once
// Measuring elapsed time.

#include <chrono>

namespace Pipe::support {

using Clock = std::chrono::steady_clock;

inline double ms_since(Clock::time_point start) {
    return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

}  // namespace Pipe::support
