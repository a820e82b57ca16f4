// Pipe's side of peer_api.h.
#pragma once

#include "apps/bench/peers/peer_api.h"

#include <pipe/pipe.h>

#include <string_view>

namespace bench {

/// Whether a row of a peer's table belongs to the application.
inline bool names(std::string_view row, std::string_view app) {
    return row.ends_with('*') ? app.starts_with(row.substr(0, row.size() - 1)) : app == row;
}

inline PeerArray peer_array(const Pipe::Buffer<> &a) {
    PeerArray p{};
    p.data = a.data();
    p.element = int(a.type().code());
    p.bits = a.type().bits();
    p.rank = a.dimensions();
    for (int d = 0; d < p.rank; ++d) {
        p.dim[d] = {int(a.min(d)), int(a.extent(d)), a.stride(d)};
    }
    return p;
}

}  // namespace bench
