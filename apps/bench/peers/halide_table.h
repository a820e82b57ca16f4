// What the libraries of Halide's objects share, for CPUs and for GPUs. Included once, by the library's file.
#pragma once

#include "apps/bench/peers/peer_api.h"

#include <HalideRuntime.h>

#include <cstdio>
#include <iterator>
#include <vector>

namespace {

struct Row {
    const char *app, *variant;
    int (*run)(void **arguments);  ///< the inputs, then the output
    double schedule_ms, lower_ms, llvm_ms;
    const char *failure;
};

#include "table.inc"

constexpr int count_of_rows = int(std::size(rows));

// Without a handler Halide's run time ends the process.
void print_error(void *, const char *message) {
    std::fprintf(stderr, "Halide: %s\n", message);
}

struct Argument {
    explicit Argument(const PeerArray &a) {
        for (int d = 0; d < a.rank; ++d) {
            dims[d] = {a.dim[d].min, a.dim[d].extent, int32_t(a.dim[d].stride)};
        }
        buffer.host = static_cast<uint8_t *>(a.data);
        buffer.type = {halide_type_code_t(a.element), uint8_t(a.bits), 1};
        buffer.dimensions = a.rank;
        buffer.dim = dims;
    }
    Argument(const Argument &) = delete;  // the buffer refers to `dims`
    halide_dimension_t dims[5];
    halide_buffer_t buffer{};
};

}  // namespace

extern "C" {

const PeerVariant *pipe_peer_variants(int *count) {
    static const std::vector<PeerVariant> variants = [] {
        std::vector<PeerVariant> list;
        for (const Row &row : rows) {
            list.push_back(
                {row.app, row.variant, row.schedule_ms, row.lower_ms, row.llvm_ms, row.failure});
        }
        return list;
    }();
    *count = count_of_rows;
    return variants.data();
}

const char *pipe_peer_name() {
    return "Halide " PIPE_PEERS_HALIDE_VERSION;
}

const char *pipe_peer_target() {
    return PIPE_PEERS_TARGET;
}
}
