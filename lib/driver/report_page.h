#pragma once
// A page that shows a schedule: stages, groups, tiles, times, loops.

#include <string>
#include <vector>

#include "autoschedule/alternatives.h"
#include "driver/compiler.h"
#include <pipe/pipeline.h>

namespace Pipe::driver {

/// Of the schedule that `compiler` uses or would use: a self-contained page, which needs no network.
std::string report_page(const std::vector<Func> &outputs, Compiler &compiler);

struct ReportContents {
    std::string title, target;
    const Scheduled &scheduled;
    std::string loops, schedule;  ///< as loop_nest() and schedule_source()
    /// The chosen schedule first; empty without autoscheduler.
    std::vector<autoschedule::Alternative> tried;
    std::optional<Prediction> predicted;
    std::vector<std::pair<std::string, double>> measured;  ///< per Func: milliseconds per run
};

std::string report_page(const ReportContents &contents);

}  // namespace Pipe::driver
