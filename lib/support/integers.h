#pragma once
// Integer division with explicit rounding.

#include <cstdint>

namespace Pipe {

/// a / b rounded down; b > 0.
constexpr int64_t floor_div(int64_t a, int64_t b) {
    return a / b - (a % b < 0 ? 1 : 0);
}

/// a / b rounded up; b > 0.
constexpr int64_t ceil_div(int64_t a, int64_t b) {
    return a / b + (a % b > 0 ? 1 : 0);
}

}  // namespace Pipe
