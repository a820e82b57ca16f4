// Our own variants of an application.
#pragma once

#include "apps/bench/variant.h"

namespace bench {

/// Those of naive, hand and auto that are wanted, compiled, with the times that compiling took.
std::vector<Variant> our_variants(const apps::App &app, const Data &data, int threads,
                                  const Wanted &wanted);

}  // namespace bench
