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
    padded(c, x, y, n) = input(c, x, y, n);
    if (shape.kernel > 1)
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

// Blocks of channels of the result one after the other, with their weights put together in the order in
// which they are read: in the filter they lie a power of two apart, which few lines of a cache can hold.
// Rows of large images in parallel, blocks of channels of small ones.
void ConvBn::schedule_by_hand(const Target &target) {
    constexpr int vectors = 2, pixels = 7;  // all images are multiples of 7 pixels wide
    const int vec = target.natural_vector_size(Float(32));
    const bool small = shape.size / shape.stride < 28;
    if (shape.kernel > 1)
        padded.compute_root().parallel(padded.args()[2]).vectorize(padded.args()[0], vec);

    const Var co("co"), xy("xy"), block("block");
    schedule_convolution(conv, {r.x, r.y, r.z}, stored, c, x, target, vectors, pixels);
    stored.compute_root().reorder(y, co).parallel(small ? co : y);
    Func weights = filter.in(conv);
    const std::vector<Var> w = weights.args();
    weights.compute_at(stored, co).reorder_storage(w[0], w[3], w[1], w[2]).vectorize(w[0], vec);

    sums.compute_root().vectorize(c, vec);
    sums.update()
        .split(c, block, c, vec * vectors)
        .reorder(c, batch.x, batch.y, batch.z, block)
        .vectorize(c, vec)
        .unroll(c)
        .parallel(block);
    mean.compute_root().vectorize(c, vec);
    mean_square.compute_root().vectorize(c, vec);
    normalised.vectorize(c, vec).fuse(x, y, xy).parallel(xy, 8);
}

}  // namespace apps
