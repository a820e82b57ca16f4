#include "apps/blur/blur.h"

#include "apps/common/gpu.h"
#include "apps/common/registers.h"

namespace apps {
using namespace dsl;

Blur::Blur(Type type) : input(type, 2, "input") {
    bx(x, y) = (input(x, y) + input(x + 1, y) + input(x + 2, y)) / 3;
    by(x, y) = (bx(x, y) + bx(x, y + 1) + bx(x, y + 2)) / 3;

    inputs = {input};
    stages = {bx, by};
}

// Strips of rows in parallel; within a strip, blocks of eight rows by one line of the cache, whose ten
// rows of bx do not go to memory, and what is stored is written to memory without being read first.
void Blur::schedule_by_hand(const Target &target) {
    const int vec = line_vector_size(target, input.type());
    by.split(y, yo, yi, 32)
        .split(yi, yi, yu, 8)
        .split(x, xo, xi, vec)
        .reorder(xi, yu, xo, yi, yo)
        .vectorize(xi)
        .unroll(yu)
        .parallel(yo);
    store_past_caches(by);
    bx.compute_at(by, xo).vectorize(x, vec).unroll(y);
}

// The pixels that a block needs are loaded to shared memory once, for all three rows and columns that read each. Each
// thread keeps in registers the rows of bx that its own rows need.
void Blur::schedule_for_gpu(const Target &) {
    GPUKernel kernel{by, x, y};
    kernel.schedule({.width = 64, .height = 4, .columns = 2, .rows = 8});
    kernel.keep(bx);
    kernel.share(input.in(bx));
}

}  // namespace apps
