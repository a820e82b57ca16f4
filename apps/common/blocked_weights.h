// The weights of convolutions in the layout of inference libraries: in blocks of 32 output
// channels, each in the order in which its sums read them.
#pragma once

#include "apps/common/registry.h"

namespace apps {

inline constexpr int channels_of_block = 32;

/// The shape of a filter (c % 32, channel in, x, y, c / 32), with whole blocks.
inline Box blocked_filter(int in, int kernel, int out) {
    const int blocks = (out + channels_of_block - 1) / channels_of_block;
    return {{0, channels_of_block}, {0, in}, {0, kernel}, {0, kernel}, {0, blocks}};
}

/// The weight (c, x, y, channel in) at a coordinate of such a filter.
inline Point weight_at(const Point &p) {
    return {p[4] * channels_of_block + p[0], p[2], p[3], p[1]};
}

}  // namespace apps
