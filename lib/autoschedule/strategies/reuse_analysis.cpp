#include "autoschedule/strategies/strategies.h"

namespace Pipe::autoschedule {

// To be replaced.
Found reuse_analysis(const StageGraph &graph, const Machine &machine, const AutoscheduleOptions &options) {
    return search(graph, machine, options);
}

}  // namespace Pipe::autoschedule
