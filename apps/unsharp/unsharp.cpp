#include "apps/unsharp/unsharp.h"

#include "apps/common/gpu.h"

#include <cmath>

namespace apps {
using namespace dsl;

Unsharp::Unsharp(float weight) : input(Float(32), 3, "input") {
    const float threshold = 0.001f;
    auto binomial = [](Expr a, Expr b, Expr c, Expr d, Expr e) {
        return (a + 4.0f * b + 6.0f * c + 4.0f * d + e) / 16.0f;
    };

    blury(x, y, c) = binomial(input(x, y - 2, c), input(x, y - 1, c), input(x, y, c),
                              input(x, y + 1, c), input(x, y + 2, c));
    blurx(x, y, c) = binomial(blury(x - 2, y, c), blury(x - 1, y, c), blury(x, y, c),
                              blury(x + 1, y, c), blury(x + 2, y, c));
    sharpen(x, y, c) = input(x, y, c) * (1 + weight) - blurx(x, y, c) * weight;
    masked(x, y, c) =
        select(abs(input(x, y, c) - blurx(x, y, c)) < threshold, input(x, y, c), sharpen(x, y, c));

    inputs = {input};
    stages = {blury, blurx, sharpen, masked};
}

// Strips of rows in parallel; within a strip, blocks of eight rows. The vertical blur of a block is
// computed column by column, so that its rows share what they load, and stays in the cache.
void Unsharp::schedule_by_hand(const Target &target) {
    const int vec = target.natural_vector_size(Float(32));
    masked.split(y, yo, yi, 32)
        .split(yi, yi, yu, 8)
        .reorder(x, yu, yi, yo)
        .vectorize(x, vec)
        .parallel(yo);
    store_past_caches(masked);
    blury.compute_at(masked, yi).reorder(y, x).vectorize(x, vec).unroll(y);
}

// A block loads its pixels to shared memory, and blurs them there along y; the rest is computed in registers.
void Unsharp::schedule_for_gpu(const Target &) {
    GPUKernel kernel{masked, x, y, {c}};
    kernel.schedule({.width = 32, .height = 8, .columns = 2, .rows = 4});
    kernel.share(input.in());
    kernel.share(blury, 4);
}

UnsharpHalide::UnsharpHalide() : input(Float(32), 3, "input") {
    const float sigma = 1.5f;
    auto kernel = [&](int i) {
        return std::exp(-float(i * i) / (2 * sigma * sigma)) / (std::sqrt(2 * float(M_PI)) * sigma);
    };

    Func in = BoundaryConditions::repeat_edge(input);
    gray(x, y) = 0.299f * in(x, y, 0) + 0.587f * in(x, y, 1) + 0.114f * in(x, y, 2);
    blur_y(x, y) = kernel(0) * gray(x, y) + kernel(1) * (gray(x, y - 1) + gray(x, y + 1)) +
                   kernel(2) * (gray(x, y - 2) + gray(x, y + 2)) +
                   kernel(3) * (gray(x, y - 3) + gray(x, y + 3));
    blur_x(x, y) = kernel(0) * blur_y(x, y) + kernel(1) * (blur_y(x - 1, y) + blur_y(x + 1, y)) +
                   kernel(2) * (blur_y(x - 2, y) + blur_y(x + 2, y)) +
                   kernel(3) * (blur_y(x - 3, y) + blur_y(x + 3, y));
    sharpen(x, y) = 2 * gray(x, y) - blur_x(x, y);
    ratio(x, y) = sharpen(x, y) / gray(x, y);
    unsharp(x, y, c) = ratio(x, y) * input(x, y, c);

    inputs = {input};
    stages = {gray, blur_y, blur_x, sharpen, ratio, unsharp};
}

// Strips of rows in parallel; within a strip, blocks of four rows. The window of rows of gray
// slides from block to block; the vertical blur of a block is computed column by column, so that
// its rows share what they load; the rest follows once for the three channels.
void UnsharpHalide::schedule_by_hand(const Target &target) {
    const int vec = target.natural_vector_size(Float(32));
    unsharp.bound(c, 0, 3)
        .split(y, yo, yi, 32)
        .split(yi, yi, yu, 4)
        .reorder(c, x, yu, yi, yo)
        .unroll(c)
        .vectorize(x, vec)
        .parallel(yo);
    store_past_caches(unsharp);
    blur_y.compute_at(unsharp, yi).reorder(y, x).vectorize(x, vec).unroll(y);
    gray.store_at(unsharp, yo).compute_at(unsharp, yi).vectorize(x, vec);
}

// A block computes the luminance of its pixels once, to shared memory, and blurs it there along y; the rest follows in
// registers for the three channels.
void UnsharpHalide::schedule_for_gpu(const Target &) {
    GPUKernel kernel{unsharp, x, y};
    unsharp.bound(c, 0, 3);
    kernel.schedule({.width = 32, .height = 8, .columns = 2, .rows = 4}, {c});
    kernel.share(gray);
    kernel.share(blur_y, 4);
    kernel.keep(ratio);
}

}  // namespace apps
