// Loads the libraries of peers that were built and gives their variants.
#pragma once

#include "apps/bench/peers/peer_api.h"
#include "apps/bench/variant.h"

namespace bench {

/// The peers' variants of an application that are wanted. Empty without peers.
std::vector<Variant> peer_variants(const apps::App &app, const Data &data, int threads,
                                   const Wanted &wanted);

/// Names and versions of the peers found.
std::vector<std::string> peer_names();

}  // namespace bench
