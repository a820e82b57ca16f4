// The objects that halide_peers compiled, as a library of peers.
#include "apps/bench/peers/halide_table.h"

#include <deque>

extern "C" {

void pipe_peer_set_threads(int threads) {
    halide_set_error_handler(print_error);
    halide_set_num_threads(threads);
}

int pipe_peer_run(int index, const PeerArray *inputs, int count, const PeerArray *out) {
    std::deque<Argument> arguments;  // which must not move
    for (int i = 0; i < count; ++i)
        arguments.emplace_back(inputs[i]);
    arguments.emplace_back(*out);
    std::vector<void *> pointers;
    for (Argument &a : arguments)
        pointers.push_back(&a.buffer);
    return rows[index].run(pointers.data());
}
}
