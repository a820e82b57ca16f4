// The performance requirements of the project, measured.
#pragma once

#include "apps/bench/report.h"

namespace bench {

/// The data on which an application is measured.
Data make_data(const apps::App &app, apps::Size size);

/// All figures that the measured applications allow. Starts this program again if a process that
/// has not compiled anything is needed.
std::vector<Figure> measure_figures(std::vector<AppResult> &results, int threads);

/// Entry point of the restarted program: builds, autoschedules, compiles and runs `app` and prints
/// the time in milliseconds.
int run_cold(const apps::App &app, int threads);

}  // namespace bench
