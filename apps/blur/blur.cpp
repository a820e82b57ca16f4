#include "apps/blur/blur.h"

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

}  // namespace apps
