// Our own variants of an application.
#pragma once

#include "apps/bench/variant.h"

namespace bench {

/// naive, hand and auto, compiled, with the times that compiling took.
std::vector<Variant> our_variants(const apps::App &app, const Data &data, int threads);

}  // namespace bench
