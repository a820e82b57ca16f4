// The schedule that all convolutions of channels share.
#pragma once

#include "apps/common/dsl.h"

#include <vector>

namespace apps {

/// `conv` (c, x, ..), whose update sums over `sums`, innermost first, is computed where `consumer`
/// (c, x, ..) reads it: in blocks of four vectors of channels by five pixels, whose sums stay in
/// registers. Every weight is loaded once for the pixels of a block, every input broadcast once for
/// its channels. `sums` in the order in which the weights lie, for the prefetcher. One block of channels
/// after the other for a whole row of pixels: its weights stay in the L2 cache.
inline void schedule_convolution(dsl::Func conv, const std::vector<dsl::RVar> &sums,
                                 dsl::Func consumer, const dsl::Var &c, const dsl::Var &x,
                                 const dsl::Target &target, int vectors = 4, int pixels = 5) {
    const int vec = target.natural_vector_size(dsl::Float(32));
    const dsl::Var co("co"), ci("ci"), xo("xo"), xi("xi");
    // loops of the update: the block, then the sums, then what is outside of blocks
    std::vector<dsl::VarOrRVar> order = {c, x};
    order.insert(order.end(), sums.begin(), sums.end());

    consumer.split(c, co, ci, vec * vectors)
        .split(x, xo, xi, pixels)
        .reorder(ci, xi, xo, co)
        .vectorize(ci, vec)
        .unroll(ci)
        .unroll(xi);
    conv.compute_at(consumer, xo).vectorize(c, vec).unroll(c).unroll(x);
    conv.update().reorder(order).vectorize(c, vec).unroll(c).unroll(x);
}

}  // namespace apps
