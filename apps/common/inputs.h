// Building blocks of the table's rows: deterministic inputs (docs/benchmarks.md, "Applications") and
// the shapes of pictures.
#pragma once

#include "apps/common/registry.h"

#include <algorithm>
#include <cstdint>

namespace apps {

inline uint32_t hash(int a, int b, int k) {
    return ((uint32_t(a) * 73856093u) ^ (uint32_t(b) * 19349663u) ^ (uint32_t(k) * 83492791u)) *
           2654435761u;
}
inline int u8(int a, int b, int k) {
    return int(hash(a, b, k) >> 24);
}  ///< 0..255
inline int u10(int a, int b, int k) {
    return int(hash(a, b, k) >> 22);
}  ///< 0..1023
inline int u12(int a, int b, int k) {
    return int(hash(a, b, k) >> 20);
}  ///< 0..4095

inline Box plane(Size s) {
    return {{0, s.width}, {0, s.height}};
}
inline Box planes(Size s) {
    return {{0, s.width}, {0, s.height}, {0, 3}};
}

/// The sizes that every pipeline of pictures must get right.
inline std::vector<Size> awkward_sizes() {
    return {{1, 1}, {7, 5}, {33, 3}, {3, 70}, {65, 67}, {130, 129}};
}

/// A count of operations per pixel of the output as a count for the whole.
inline std::function<double(Size)> flops_per_pixel(double flops) {
    return [flops](Size s) { return flops * s.width * s.height; };
}

}  // namespace apps
