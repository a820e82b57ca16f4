// The results as tables for docs/benchmarks.md.
#pragma once

#include "apps/bench/report.h"

#include <string>

namespace bench {

/// One row per application: times of the variants in milliseconds or their failures, ratios to
/// Halide's, the percentage of the limiting peak that the hand schedule reaches, and compile times.
std::string to_markdown(const std::vector<AppResult> &results);

}  // namespace bench
