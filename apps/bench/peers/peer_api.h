// How the benchmark talks to a library of peers (libpipe_peers_*.so), which it loads at run time.
// Plain data only: the two sides share no library.
#pragma once

#include <cstdint>

extern "C" {

/// A dense or strided array; dimension 0 is x.
struct PeerArray {
    void *data;   ///< the element at the mins of all dimensions
    int element;  ///< 0: signed integer, 1: unsigned integer, 2: float
    int bits, rank;
    struct {
        int min, extent;
        int64_t stride;  ///< in elements
    } dim[5];
};

struct PeerVariant {
    const char *app;  ///< its name, or the beginning of several with a '*' behind
    const char *variant;
    double schedule_ms, lower_ms, llvm_ms;  ///< negative: not known
    const char *failure;                    ///< empty, or why the variant cannot be run
};

/// The variants that the library has.
const PeerVariant *pipe_peer_variants(int *count);

/// Name and version of the peer.
const char *pipe_peer_name();

/// PIPE_TARGET when the variants were compiled, where that was in advance; else null: what the library
/// does at run time depends on the variables that the benchmark sets for it.
const char *pipe_peer_target();

/// How many threads all later runs use.
void pipe_peer_set_threads(int threads);

/// Runs variant `index`; 0 when all went well.
int pipe_peer_run(int index, const PeerArray *inputs, int count, const PeerArray *out);
}
