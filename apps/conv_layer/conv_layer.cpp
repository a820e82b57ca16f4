#include "apps/conv_layer/conv_layer.h"

#include "apps/common/conv.h"
#include "apps/common/gpu_conv.h"

namespace apps {
using namespace dsl;

ConvLayer::ConvLayer()
    : input(Float(32), 4, "input"), filter(Float(32), 4, "filter"), bias(Float(32), 1, "bias"),
      r(0, input.dim(0).extent(), 0, 3, 0, 3, "r") {
    conv(c, x, y, n) = bias(c);
    conv(c, x, y, n) += filter(c, r.y, r.z, r.x) * input(r.x, x + r.y, y + r.z, n);
    relu(c, x, y, n) = max(conv(c, x, y, n), 0.0f);

    inputs = {input, filter, bias};
    stages = {conv, relu};
}

// One block of channels after the other, with its weights put together; rows in parallel.
void ConvLayer::schedule_by_hand(const Target &target) {
    const int channels = 128, width = 100;  // the paper's
    const Var co("co");
    schedule_layer({conv, r, relu, c, x, channels, channels, width}, target);
    relu.compute_root().reorder(y, co).parallel(y);
    put_together(filter.in(conv), target).compute_at(relu, co);
}

// All channels of twenty by two pixels in a block.
void ConvLayer::schedule_for_gpu(const Target &) {
    schedule_convolution_for_gpu(conv, r, filter.in(conv), input.in(conv), relu, c, x, y, {n},
                                 {.channels = 4, .pixels = 5, .width = 4, .height = 2, .step = 8});
}

}  // namespace apps
