// What a library of peers is made of whose applications are compiled functions: a table of them.
// Included once, by the file that has the table.
#pragma once

#include "apps/bench/peers/peer_api.h"

#include <cstdio>
#include <exception>
#include <vector>

namespace peers {

struct Row {
    const char *app;  ///< its name, or the beginning of several with a '*' behind
    const char *variant;
    void (*run)(const PeerArray *inputs, const PeerArray &out);  ///< may throw
};

// the file's own
std::vector<Row> rows();
const char *name();
void set_threads(int threads);

// Not inline: of an inline function's static variable there would be one for all libraries.
namespace {
const std::vector<Row> &table() {
    static const std::vector<Row> table = rows();
    return table;
}
}  // namespace

}  // namespace peers

extern "C" {

const PeerVariant *pipe_peer_variants(int *count) {
    static const std::vector<PeerVariant> variants = [] {
        std::vector<PeerVariant> list;
        for (const peers::Row &row : peers::table())
            list.push_back({row.app, row.variant, -1, -1, -1, ""});
        return list;
    }();
    *count = int(variants.size());
    return variants.data();
}

const char *pipe_peer_name() {
    return peers::name();
}

const char *pipe_peer_target() {
    return nullptr;
}

void pipe_peer_set_threads(int threads) {
    peers::set_threads(threads);
}

int pipe_peer_run(int index, const PeerArray *inputs, int, const PeerArray *out) try {
    peers::table()[size_t(index)].run(inputs, *out);
    return 0;
} catch (const std::exception &e) {
    std::fprintf(stderr, "%s: %s\n", peers::name(), e.what());
    return 1;
}
}
