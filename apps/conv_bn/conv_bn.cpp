#include "apps/conv_bn/conv_bn.h"

#include "apps/common/conv.h"

namespace apps {
using namespace dsl;

ConvBn::ConvBn(const Shape &layer)
    : shape(layer), input(Float(32), 4, "input"), filter(Float(32), 4, "filter"),
      affine(Float(32), 2, "affine"),
      r(0, input.dim(0).extent(), 0, shape.kernel, 0, shape.kernel, "r"),
      batch(0, input.dim(1).extent() / shape.stride, 0, input.dim(2).extent() / shape.stride, 0,
            input.dim(3).extent(), "batch") {
    const int stride = shape.stride, pad = shape.pad();
    if (shape.kernel == 1)
        padded(c, x, y, n) = input(c, x, y, n);
    else
        padded = BoundaryConditions::constant_exterior(
            input, 0.0f,
            {{Expr(), Expr()}, {0, input.dim(1).extent()}, {0, input.dim(2).extent()}});
    conv(c, x, y, n) = 0.0f;
    conv(c, x, y, n) +=
        filter(c, r.y, r.z, r.x) * padded(r.x, x * stride + r.y - pad, y * stride + r.z - pad, n);
    stored(c, x, y, n) = conv(c, x, y, n);

    const Expr value = stored(c, batch.x, batch.y, batch.z);
    const Expr count = cast<float>(batch.x.extent() * batch.y.extent() * batch.z.extent());
    sums(c) = Tuple(0.0f, 0.0f);
    sums(c) = Tuple(sums(c)[0] + value, sums(c)[1] + value * value);
    mean(c) = sums(c)[0] / count;
    mean_square(c) = sums(c)[1] / count;

    const Expr variance = mean_square(c) - mean(c) * mean(c);
    const Expr y_hat = (stored(c, x, y, n) - mean(c)) / sqrt(max(variance, 0.0f) + 1e-5f);
    normalised(c, x, y, n) = max(y_hat * affine(c, 0) + affine(c, 1), 0.0f);

    inputs = {input, filter, affine};
    stages = {padded, conv, stored, sums, mean, mean_square, normalised};
}

// The convolution as in common/conv.h; the statistics by blocks of channels in parallel.
void ConvBn::schedule_by_hand(const Target &target) {
    const int vec = target.natural_vector_size(Float(32));
    const Var xy("xy"), block("block"), ci("ci");
    if (shape.kernel > 1)
        padded.compute_root()
            .parallel(padded.args()[2])
            .vectorize(padded.args()[0], vec, TailStrategy::GuardWithIf);
    schedule_layer(conv, filter, r, stored, c, x, y, shape.in, shape.size / shape.stride, target);
    sums.compute_root().vectorize(c, vec);
    sums.update()
        .split(c, block, ci, 2 * vec)
        .reorder(ci, batch.x, batch.y, batch.z, block)
        .vectorize(ci, vec)
        .unroll(ci)
        .parallel(block);
    mean.compute_root().vectorize(c, vec);
    mean_square.compute_root().vectorize(c, vec);
    normalised.vectorize(c, vec).fuse(x, y, xy).parallel(xy, 8);
}

}  // namespace apps
