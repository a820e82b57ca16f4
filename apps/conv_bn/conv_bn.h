// The layers of ResNet-50 in training (docs/benchmarks.md, no. 14): convolution, then batch
// normalization with the statistics of this very batch, then ReLU.
#pragma once

#include "apps/common/program.h"

namespace apps {

struct ConvBn : Program {
    struct Shape {
        int in, size, out, kernel, stride;  ///< channels, pixels, channels, pixels, pixels
        /// How many blocks of channels the hand schedule takes at once: several where few weights and pixels
        /// leave room in the cache, for then longer pieces of the result are written.
        int blocks_at_once() const;
        int pad() const { return stride == 1 ? kernel / 2 : kernel == 7 ? 3 : 0; }  ///< before
    };
    explicit ConvBn(const Shape &layer);
    void schedule_by_hand(const dsl::Target &target) override;
    void schedule_for_gpu(const dsl::Target &target) override;

    const Shape shape;
    dsl::ImageParam input;   ///< float, (channel, x, y, n)
    dsl::ImageParam filter;  ///< float, see blocked_weights.h
    dsl::ImageParam affine;  ///< float, (channel out, 2): the scale and offset that were learned
    dsl::Func padded, conv{"conv"}, stored{"stored"}, sums{"sums"}, mean{"mean"},
        mean_square{"mean_square"}, normalized{"normalized"};
    dsl::RDom r;      ///< channel in, x, y
    dsl::RDom batch;  ///< x, y, n
    dsl::Var c{"c"}, x{"x"}, y{"y"}, n{"n"};
    dsl::Var lane{"lane"}, block{"block"};  ///< of the channels: c = block * 32 + lane
};

}  // namespace apps
