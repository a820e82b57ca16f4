#pragma once
// Published schedulers, each restricted to its paper's schedules, cost function and search.

#include "autoschedule/search.h"

namespace Pipe::autoschedule {

/// Members that are fused at most: the regions of the last of a long chain become large expressions.
/// (The papers have no such bound.)
constexpr size_t most_fused = 32;

/// As search(), for the strategy that the options ask for.
SearchResult search_by_strategy(const StageGraph &graph, const Machine &machine,
                                const AutoscheduleOptions &options);

SearchResult dp_fusion(const StageGraph &graph, const Machine &machine,
                       const AutoscheduleOptions &options);
SearchResult reuse_analysis(const StageGraph &graph, const Machine &machine,
                            const AutoscheduleOptions &options);
SearchResult post_tiling(const StageGraph &graph, const Machine &machine,
                         const AutoscheduleOptions &options);
SearchResult greedy(const StageGraph &graph, const Machine &machine,
                    const AutoscheduleOptions &options);

}  // namespace Pipe::autoschedule
