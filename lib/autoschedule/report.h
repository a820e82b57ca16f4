#pragma once
// The report for people.

#include "autoschedule/autoschedule.h"
#include "autoschedule/stage_graph.h"

namespace Pipe::autoschedule {

/// Groups, tiles, levels, cost terms and time, several lines of text.
std::string report_text(const Report &report, const StageGraph &nodes, const graph::Graph &graph);

}  // namespace Pipe::autoschedule
