#include "apps/quantized_conv/quantized_conv.h"

#include "apps/common/gpu.h"

namespace apps {
using namespace dsl;

QuantizedConv::QuantizedConv() : input(Float(32), 2, "input"), r(0, 3, 0, 3, "r") {
    quantized(x, y) = clamp(round(input(x, y) * 16.0f), -128.0f, 127.0f) * (1.0f / 16);
    const Expr weight = cast<float>(3 * r.y + r.x - 4) * (1.0f / 8);
    conv(x, y) = 0.0f;
    conv(x, y) += quantized(x + r.x, y + r.y) * weight;
    relu(x, y) = max(conv(x, y), 0.0f);

    inputs = {input};
    stages = {quantized, conv, relu};
}

// Strips of rows in parallel; the rows that are quantized slide down, the sums stay in registers.
void QuantizedConv::schedule_by_hand(const Target &target) {
    const int vec = target.natural_vector_size(Float(32));
    relu.split(y, yo, yi, 32).vectorize(x, vec).parallel(yo);
    quantized.store_at(relu, yo).compute_at(relu, yi).vectorize(x, vec);
    conv.compute_at(relu, x).vectorize(x);
    conv.update().reorder(x, r.x, r.y, y).vectorize(x).unroll(r.x).unroll(r.y);
}

// The quantized pixels of a block in shared memory, the sums in registers.
void QuantizedConv::schedule_for_gpu(const Target &) {
    GPUKernel kernel{relu, x, y};
    kernel.schedule({.width = 32, .height = 8, .columns = 2, .rows = 4});
    kernel.share(quantized);
    kernel.keep(conv);
    conv.update().unroll(r.x).unroll(r.y).unroll(x).unroll(y);
}

}  // namespace apps
