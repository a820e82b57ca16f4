#include "apps/max_filter/max_filter.h"

#include "apps/common/gpu.h"

#include <cmath>

namespace apps {
using namespace dsl;

MaxFilter::MaxFilter(int radius)
    : input(Float(32), 3, "input"), rows(-radius - 1, input.height() + 2 * radius + 1, "rows"),
      columns(-radius, 2 * radius + 1, "columns"), slices(1) {
    while ((2 << (slices - 1)) <= 2 * (radius + 1) + 1)
        ++slices;  // 2^(slices - 1) <= longest column

    const float reach = radius + 0.25f;
    const RDom h(0, radius + 1, "h");
    height(t) = 0;
    height(t) += select(t * t + h * h < reach * reach, 1, 0);
    slice(t) = cast<int>(floor(log(cast<float>(2 * t + 1)) / std::log(2.0f)));

    // running(.., s) = max over the 2^s rows from here on
    const Func in =
        BoundaryConditions::repeat_edge(input, {{0, input.width()}, {0, input.height()}});
    running(x, y, c, s) = in(x, y, c);
    for (int i = 1; i < slices; ++i) {
        running(x, rows, c, i) =
            max(running(x, rows, c, i - 1), running(x, rows + (1 << (i - 1)), c, i - 1));
    }
    const Expr i = clamp(slice(t), 0, slices - 1);
    column(x, y, c, t) = max(running(x, y - t, c, i), running(x, y + t + 1 - (1 << i), c, i));
    dilated(x, y, c) =
        maximum(columns, column(x + columns, y, c, clamp(height(columns), 0, radius + 1)));

    inputs = {input};
    stages = {height, slice, running, column, dilated};
}

// Strips of columns in parallel, whose running maxima stay in the cache. All vectors of a strip at once: they
// share where the columns begin.
void MaxFilter::schedule_by_hand(const Target &target) {
    const int vec = target.natural_vector_size(Float(32));
    height.compute_root();
    slice.compute_root();
    dilated.split(x, xo, xi, 4 * vec).reorder(xi, y, c, xo).vectorize(xi).parallel(xo);
    running.compute_at(dilated, c).vectorize(x, vec);
    for (int i = 1; i < slices; ++i)
        running.update(i - 1).vectorize(x, vec);
}

// One kernel for each length of the running maxima, and one for the discs. The tables are made by the host.
void MaxFilter::schedule_for_gpu(const Target &) {
    height.compute_root();
    slice.compute_root();
    running.compute_root();
    GPUKernel{running, x, y, {c}}.schedule({.width = 32, .height = 8}, {s});
    const Var bx("bx"), tx("tx");
    const RVar by("by"), ty("ty");
    for (int i = 1; i < slices; ++i) {
        running.update(i - 1)
            .split(x, bx, tx, 32)
            .split(rows, by, ty, 8)
            .reorder({tx, ty, bx, by, c})
            .gpu_threads(tx, ty)
            .gpu_blocks(bx, by, c);
    }
    GPUKernel{dilated, x, y, {c}}.schedule({.width = 32, .height = 8});
}

}  // namespace apps
