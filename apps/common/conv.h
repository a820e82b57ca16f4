// The common schedule of all convolutions.
#pragma once

#include "apps/common/dsl.h"
#include "apps/common/registers.h"

#include <vector>

namespace apps {

/// `conv` (c, x, ..), or by the channel within a block of them (lane, x, ..), whose update sums
/// over `sums`, innermost first, is computed at the loops of `consumer` (c, x, ..), in register
/// blocks of vectors of channels by pixels. Every weight is loaded once for the pixels of a block,
/// every input broadcast once for its channels. `sums` are in the storage order of the weights, for
/// the prefetcher. One block of channels after the other for a whole row of pixels: its weights
/// stay in the L2 cache.
inline void schedule_convolution(dsl::Func conv, const std::vector<dsl::RVar> &sums,
                                 dsl::Func consumer, const dsl::Var &c, const dsl::Var &x,
                                 const dsl::Target &target, RegisterBlock block) {
    const int vec = target.natural_vector_size(dsl::Float(32));
    const dsl::Var co("co"), ci("ci"), xo("xo"), xi("xi"), lane = conv.args()[0], vector("vector");
    consumer.split(c, co, ci, vec * block.vectors)
        .split(x, xo, xi, block.values)
        .reorder(ci, xi, xo, co)
        .vectorize(ci, vec)
        .unroll(ci)
        .unroll(xi);
    conv.compute_at(consumer, xo).vectorize(lane, vec).unroll(lane).unroll(x);

    // loops of the update: the block, then the sums, then what is outside of blocks
    std::vector<dsl::VarOrRVar> order = {lane, vector, x};
    if (block.holds_values())
        order = {lane, x, vector};
    order.insert(order.end(), sums.begin(), sums.end());
    conv.update()
        .split(lane, vector, lane, vec)
        .reorder(order)
        .vectorize(lane)
        .unroll(vector)
        .unroll(x);
}

/// The weights (c, x, y, channel, ..) of a layer, in the order in which sums over (channel, x, y)
/// read them: in the filter, their distance is a power of two, which causes cache-set conflicts.
inline dsl::Func put_together(dsl::Func weights, const dsl::Target &target) {
    const std::vector<dsl::Var> w = weights.args();
    return weights.reorder_storage(w[0], w[3], w[1], w[2])
        .vectorize(w[0], target.natural_vector_size(dsl::Float(32)));
}

/// A layer of a network: `conv`, as above, sums over r = (channel, x, y), and `consumer` (c, x, y,
/// ..) reads it.
struct LayerParts {
    dsl::Func conv;
    dsl::RDom r;
    dsl::Func consumer;
    dsl::Var c, x;
    int in, out;  ///< channels that are summed over, and channels that form blocks
    int width;    ///< of the result, in pixels
};

/// The blocked convolution of a layer, computed at its consumer.
inline void schedule_layer(LayerParts layer, const dsl::Target &target) {
    const int vectors = layer.out / target.natural_vector_size(dsl::Float(32));
    schedule_convolution(layer.conv, {layer.r.x, layer.r.y, layer.r.z}, layer.consumer, layer.c,
                         layer.x, target, register_block(target, vectors, layer.width));
    // A step is only a few multiplications: unrolled to reduce the loop overhead.
    if (layer.in % 4 == 0)
        layer.conv.update().unroll(layer.r.x, 4);
}

}  // namespace apps
