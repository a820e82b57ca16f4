#pragma once
// The autoscheduler's report as text.

#include "autoschedule/autoschedule.h"
#include "autoschedule/stage_graph.h"

namespace Pipe::autoschedule {

/// Groups, tiles, levels, cost terms and times, several lines.
std::string report_text(const Report &report, const StageGraph &nodes, const graph::Graph &graph);

}  // namespace Pipe::autoschedule
