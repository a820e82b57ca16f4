// Growth of compile time with the number of stages.
#pragma once

#include "apps/bench/report.h"

namespace bench {

/// Compiles chains of 10, 100 and 1,000 stages, and groups of 10 and 100 fused stages. Appends the
/// growth exponents of schedule + lowering (1 = linear) and the time of the longest chain.
void measure_scaling(std::vector<Figure> &figures);

}  // namespace bench
