// A convolution layer with ReLU (docs/benchmarks.md, no. 20).
#pragma once

#include "apps/common/program.h"

namespace apps {

struct ConvLayer : Program {
    ConvLayer();
    void schedule_by_hand(const dsl::Target &target) override;
    void schedule_for_gpu(const dsl::Target &target) override;

    dsl::ImageParam input;   ///< float, (channel, x, y, n), padded: 2 larger than the output
    dsl::ImageParam filter;  ///< float, (channel out, x, y, channel in), 3x3
    dsl::ImageParam bias;    ///< float, (channel out)
    dsl::Func conv{"conv"}, relu{"relu"};
    dsl::RDom r;  ///< channel in, x, y
    dsl::Var c{"c"}, x{"x"}, y{"y"}, n{"n"}, co{"co"}, ci{"ci"}, xo{"xo"}, xi{"xi"};
};

}  // namespace apps
