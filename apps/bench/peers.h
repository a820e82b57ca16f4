// Loads the libraries of the peers that were built and returns their variants.
#pragma once

#include "apps/bench/peers/peer_api.h"
#include "apps/bench/variant.h"

namespace bench {

/// The requested variants of an application by peers. Empty without peers.
std::vector<Variant> peer_variants(const apps::App &app, const Data &data, int threads,
                                   const Wanted &wanted);

/// Names and versions of the peers found.
std::vector<std::string> peer_names();

}  // namespace bench
