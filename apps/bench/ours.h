// Pipe's variants of an application.
#pragma once

#include "apps/bench/variant.h"

namespace bench {

/// The requested ones of naive, hand and auto, compiled, with their compile times.
std::vector<Variant> our_variants(const apps::App &app, const Data &data, int threads,
                                  const Wanted &wanted);

}  // namespace bench
