#include "apps/nl_means/nl_means.h"

#include "apps/common/gpu.h"

namespace apps {
using namespace dsl;

NlMeans::NlMeans(float sigma, int patch, int search)
    : input(Float(32), 3, "input"), window(-(search / 2), search, -(search / 2), search, "window") {
    edged = BoundaryConditions::repeat_edge(input, {{0, input.width()}, {0, input.height()}});

    auto squared = [](const Expr &e) { return e * e; };
    difference(x, y, u, v) = squared(edged(x, y, 0) - edged(x + u, y + v, 0)) +
                             squared(edged(x, y, 1) - edged(x + u, y + v, 1)) +
                             squared(edged(x, y, 2) - edged(x + u, y + v, 2));
    Expr rows = 0.0f, columns = 0.0f;
    for (int i = -(patch / 2); i < patch - patch / 2; ++i)
        rows += difference(x, y + i, u, v);
    boxy(x, y, u, v) = rows;
    for (int i = -(patch / 2); i < patch - patch / 2; ++i)
        columns += boxy(x + i, y, u, v);
    boxx(x, y, u, v) = columns;

    const float inverse = -1 / (sigma * sigma * float(patch * patch));
    const Expr weight = exp(boxx(x, y, window.x, window.y) * inverse);
    sums(x, y, c) = 0.0f;  // channel 3: the weights themselves
    sums(x, y, c) += weight * select(c == 3, 1.0f, edged(x + window.x, y + window.y, min(c, 2)));
    denoised(x, y, c) = clamp(sums(x, y, c) / sums(x, y, 3), 0.0f, 1.0f);

    inputs = {input};
    stages = {difference, boxy, boxx, sums, denoised};
}

// Tiles in parallel; within a tile one offset of the search after another, whose squared
// differences and sums over rows never leave the cache.
void NlMeans::schedule_by_hand(const Target &target) {
    const int vec = target.natural_vector_size(Float(32));
    denoised.bound(c, 0, 3)
        .tile(x, y, xo, yo, xi, yi, 4 * vec, 32)
        .reorder(xi, yi, c, xo, yo)
        .vectorize(xi, vec)
        .parallel(yo);
    sums.compute_at(denoised, xo).bound(c, 0, 4).vectorize(x, vec);
    sums.update().reorder(c, x, y, window.x, window.y).unroll(c).vectorize(x, vec);
    for (Func f : {boxx, boxy, difference})
        f.compute_at(sums, window.x).vectorize(x, vec);
}

// A block's pixels in shared memory, with those that its searches reach. One offset after the other: the block's squared
// differences, and their sums over rows, in shared memory as well.
void NlMeans::schedule_for_gpu(const Target &) {
    denoised.bound(c, 0, 3);
    GPUKernel kernel{denoised, x, y};
    kernel.schedule({.width = 32, .height = 8, .rows = 2}, {c});
    kernel.share(edged);
    const Var row("row");
    sums.compute_at(denoised, kernel.block).bound(c, 0, 4).reorder(c, x, y);
    sums.split(y, y, row, 2).reorder(c, row, x, y).unroll(c).unroll(row).gpu_threads(x, y);
    sums.update()
        .split(y, y, row, 2)
        .reorder({c, row, x, y, window.x, window.y})
        .unroll(c)
        .unroll(row)
        .gpu_threads(x, y);
    for (Func f : {boxy, difference})
        f.compute_at(sums, window.x).gpu_threads(x, y);
}

}  // namespace apps
