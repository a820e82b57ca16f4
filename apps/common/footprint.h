// What a tile of a fused group stores of each of the group's stages.
#pragma once

#include "apps/common/registry.h"

#include <vector>

namespace apps {

/// A group of fused stages: `output` is computed in tiles; per tile, each member is computed and stored.
struct FusedGroup {
    dsl::Func output;
    int width, height;  ///< of a tile, along the first two dimensions; the others are whole
    std::vector<dsl::Func> members;
    std::vector<dsl::Func> inlined;  ///< into members or the output
};

/// Extents, x first.
using Extents = std::vector<int>;

/// The buffers of the members for the tile that needs most, as the compiled program allocates them
/// when it computes a picture of this size. Stages outside of the group are computed as a whole.
/// \param program an instance of `app` without a schedule
std::vector<Extents> footprints(const App &app, Program &program, const FusedGroup &group,
                                Size size);

}  // namespace apps
