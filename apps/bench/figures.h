// The figures that the project has promised (benchmark of the first issue), measured.
#pragma once

#include "apps/bench/report.h"

namespace bench {

/// What an application is measured on.
Data make_data(const apps::App &app, apps::Size size);

/// All figures that the measured applications allow. Starts this program again where a process that
/// has compiled nothing yet is needed.
std::vector<Figure> measure_figures(std::vector<AppResult> &results, int threads);

/// What this program does when it is started again: builds, autoschedules, compiles and runs `app`
/// and prints how many milliseconds that took.
int run_cold(const apps::App &app, int threads);

}  // namespace bench
