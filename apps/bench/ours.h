// Our own variants of an application, and the figures that only our side has.
#pragma once

#include "apps/bench/report.h"

namespace bench {

/// naive, hand and auto, compiled, with the times that compiling took.
std::vector<Variant> our_variants(const apps::App &app, const Array &input, const Array &output,
                                  int threads);

/// The figures promised beside the run times. Starts this program again where a cold process is
/// needed.
std::vector<Figure> measure_figures(const std::vector<AppResult> &results, int threads);

/// What the program does when it is started again for the figure of the cold `realize`: builds,
/// autoschedules, compiles and runs `app`, and prints the milliseconds.
int run_cold(const apps::App &app, int threads);

} // namespace bench
