#include "apps/conv_bn/conv_bn.h"

#include "apps/common/blocked_weights.h"
#include "apps/common/conv.h"
#include "apps/common/gpu_conv.h"

namespace apps {
using namespace dsl;

ConvBn::ConvBn(const Shape &layer)
    : shape(layer), input(Float(32), 4, "input"), filter(Float(32), 5, "filter"),
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
    conv(lane, x, y, n, block) = 0.0f;
    conv(lane, x, y, n, block) += filter(lane, r.x, r.y, r.z, block) *
                                  padded(r.x, x * stride + r.y - pad, y * stride + r.z - pad, n);
    stored(lane, x, y, n, block) = conv(lane, x, y, n, block);

    const Expr value = stored(lane, batch.x, batch.y, batch.z, block);
    const Expr count = cast<float>(batch.x.extent() * batch.y.extent() * batch.z.extent());
    sums(lane, block) = Tuple(0.0f, 0.0f);
    sums(lane, block) = Tuple(sums(lane, block)[0] + value, sums(lane, block)[1] + value * value);
    mean(lane, block) = sums(lane, block)[0] / count;
    mean_square(lane, block) = sums(lane, block)[1] / count;

    const Expr c_lane = c % channels_of_block, c_block = c / channels_of_block;
    const Expr average = mean(c_lane, c_block);
    const Expr variance = mean_square(c_lane, c_block) - average * average;
    const Expr y_hat =
        (stored(c_lane, x, y, n, c_block) - average) / sqrt(max(variance, 0.0f) + 1e-5f);
    normalized(c, x, y, n) = max(y_hat * affine(c, 0) + affine(c, 1), 0.0f);

    inputs = {input, filter, affine};
    stages = {padded, conv, stored, sums, mean, mean_square, normalized};
}

int ConvBn::Shape::blocks_at_once() const {
    return kernel == 1 && size / stride <= 28 ? std::clamp(out / 128, 1, 4) : 1;
}

// Blocks of channels in parallel, each of them as a whole: what becomes of the convolution finds it in the
// cache.
void ConvBn::schedule_by_hand(const Target &target) {
    const int vec = target.natural_vector_size(Float(32)), width = shape.size / shape.stride;
    const Var together("together"), ci("ci");
    if (shape.kernel > 1)
        padded.compute_root()
            .parallel(padded.args()[2])
            .vectorize(padded.args()[0], vec, TailStrategy::GuardWithIf);
    schedule_layer({conv, r, stored, lane, x, shape.in, channels_of_block, width}, target);
    const int channels = shape.blocks_at_once() * channels_of_block;
    normalized.output_buffer().dim(0).set_min(0);  // else no block is known to be whole
    normalized.split(c, together, ci, channels, TailStrategy::RoundUp)
        .reorder(ci, x, y, n, together)
        .vectorize(ci, vec)
        .unroll(ci)
        .parallel(together);
    stored.compute_at(normalized, together).bound(lane, 0, channels_of_block);
    for (Func f : {sums, mean, mean_square})
        f.compute_at(normalized, together).vectorize(lane, vec).unroll(lane);
    sums.update().reorder(lane, batch.x, batch.y, batch.z, block).vectorize(lane, vec).unroll(lane);
}

// One kernel for the convolution, three for its mean and variance, and one for what becomes of it.
void ConvBn::schedule_for_gpu(const Target &) {
    stored.compute_root();
    const Func read = shape.kernel == 1 ? input.in(padded) : padded;
    schedule_convolution_for_gpu(conv, r, filter.in(conv), read, stored, lane, x, y, {n, block},
                                 {.channels = 1, .pixels = 7, .width = 2, .height = 4, .step = 16});
    const Var row("row"), bc("bc"), tc("tc"), bx("bx"), tx("tx"), rest("rest");
    Func rows = sums.update().rfactor(batch.y, row);
    for (Func f : {rows, sums})
        f.compute_root();
    rows.gpu_threads(lane).gpu_blocks(block, row);
    rows.update()
        .reorder({batch.x, batch.z, lane, block, row})
        .gpu_threads(lane)
        .gpu_blocks(block, row);
    sums.gpu_threads(lane).gpu_blocks(block);
    sums.update().reorder({batch.y, lane, block}).gpu_threads(lane).gpu_blocks(block);
    normalized.split(c, bc, tc, 32)
        .split(x, bx, tx, 8)
        .reorder(tc, tx, bc, bx, y, n)
        .fuse(y, n, rest)
        .gpu_threads(tc, tx)
        .gpu_blocks(bc, bx, rest);
}

}  // namespace apps
