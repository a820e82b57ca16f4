// The results as a table for README.md.
#pragma once

#include "apps/bench/report.h"

#include <string>

namespace bench {

/// One row per application: milliseconds of the variants or how they failed, ratios to Halide's, what
/// of the nearer ceiling the hand schedule reaches, and compile times.
std::string to_markdown(const std::vector<AppResult> &results);

}  // namespace bench
