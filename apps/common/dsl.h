// The language that the applications are written in.
//
// The applications use only what Pipe shares with Halide's public API. So one source gives both our
// program and, in the benchmark, the peer's: the same algorithm under the same hand schedule.
#pragma once

#ifdef PIPE_APPS_ON_HALIDE
#include <Halide.h>
namespace apps {
namespace dsl = Halide;
inline void store_past_caches(dsl::Func) {}  // it has no directive for that
}  // namespace apps
#else
#include <pipe/pipe.h>
namespace apps {
namespace dsl = Pipe;
/// For a result that is larger than the caches. Where rows are stored in turn, with vectors of whole lines
/// (see registers.h).
inline void store_past_caches(dsl::Func f) {
    f.store_nontemporal();
}
}  // namespace apps
#endif
