#pragma once
// The scheduler of Jangda and Bondhugula 2020, in parts that can be left out.

#include "autoschedule/search.h"

namespace Pipe::autoschedule {

/// What Figure 8 of the paper compares.
struct FusionParts {
    bool inlining = true;      ///< Algorithm 3
    bool two_levels = true;    ///< Algorithm 4; else Algorithm 2
    bool shared_loops = true;  ///< section 5.3: members that load the same elements
    bool tile_model = true;  ///< else tiles of 32 x 256, as a compiler with tuned sizes would have
    bool dynamic_programming =
        true;  ///< else the pair whose fusion lowers the cost most, repeatedly
};

SearchResult dp_fusion(const StageGraph &graph, const Machine &machine,
                       const AutoscheduleOptions &options, const FusionParts &parts);

}  // namespace Pipe::autoschedule
