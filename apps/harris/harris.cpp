#include "apps/harris/harris.h"

#include "apps/common/gpu.h"

namespace apps {
using namespace dsl;

template <typename Gray> void HarrisStages::define(Gray gray) {
    auto sum3x3 = [this](Func f) {
        return f(x - 1, y - 1) + f(x, y - 1) + f(x + 1, y - 1) +  //
               f(x - 1, y) + f(x, y) + f(x + 1, y) +              //
               f(x - 1, y + 1) + f(x, y + 1) + f(x + 1, y + 1);
    };

    iy(x, y) = (gray(x + 1, y - 1) - gray(x - 1, y - 1)) * (1.0f / 12) +
               (gray(x + 1, y) - gray(x - 1, y)) * (2.0f / 12) +
               (gray(x + 1, y + 1) - gray(x - 1, y + 1)) * (1.0f / 12);
    ix(x, y) = (gray(x - 1, y + 1) - gray(x - 1, y - 1)) * (1.0f / 12) +
               (gray(x, y + 1) - gray(x, y - 1)) * (2.0f / 12) +
               (gray(x + 1, y + 1) - gray(x + 1, y - 1)) * (1.0f / 12);

    ixx(x, y) = ix(x, y) * ix(x, y);
    iyy(x, y) = iy(x, y) * iy(x, y);
    ixy(x, y) = ix(x, y) * iy(x, y);

    sxx(x, y) = sum3x3(ixx);
    syy(x, y) = sum3x3(iyy);
    sxy(x, y) = sum3x3(ixy);

    det(x, y) = sxx(x, y) * syy(x, y) - sxy(x, y) * sxy(x, y);
    trace(x, y) = sxx(x, y) + syy(x, y);
    harris(x, y) = det(x, y) - 0.04f * trace(x, y) * trace(x, y);
}

// Strips of rows in parallel; within a strip a window of rows of both derivatives slides down. They
// read the same pixels, so one loop computes both. Two rows of the response at a time share what
// they load.
void HarrisStages::schedule_by_hand(const Target &target) {
    const int vec = target.natural_vector_size(Float(32));
    harris.split(y, yo, yi, 64)
        .split(yi, yi, yu, 2)
        .reorder(yu, x, yi, yo)
        .unroll(yu)
        .vectorize(x, vec)
        .parallel(yo);
    ix.store_at(harris, yo).compute_at(harris, yi).vectorize(x, vec);
    iy.store_at(harris, yo).compute_at(harris, yi).vectorize(x, vec).compute_with(ix, x);
}

// The gray values of a block's pixels and both derivatives in shared memory; products and sums in registers.
void HarrisStages::schedule_for_gpu(const Func &gray) {
    GPUKernel kernel{harris, x, y};
    kernel.schedule({.width = 32, .height = 8, .columns = 2, .rows = 4});
    kernel.share(gray);
    kernel.share(ix, 2);
    kernel.share(iy, 2);
}

Harris::Harris() : input(Float(32), 2, "input") {
    define(input);
    inputs = {input};
    stages = {iy, ix, ixx, iyy, ixy, sxx, syy, sxy, det, trace, harris};
}

void Harris::schedule_by_hand(const Target &target) {
    HarrisStages::schedule_by_hand(target);
}

void Harris::schedule_for_gpu(const Target &) {
    HarrisStages::schedule_for_gpu(input.in());
}

HarrisHalide::HarrisHalide() : input(Float(32), 3, "input") {
    gray(x, y) = 0.299f * input(x, y, 0) + 0.587f * input(x, y, 1) + 0.114f * input(x, y, 2);
    define(gray);
    inputs = {input};
    stages = {gray, iy, ix, ixx, iyy, ixy, sxx, syy, sxy, det, trace, harris};
}

// As above, with a window of rows of gray in front.
void HarrisHalide::schedule_by_hand(const Target &target) {
    const int vec = target.natural_vector_size(Float(32));
    HarrisStages::schedule_by_hand(target);
    gray.store_at(harris, yo).compute_at(harris, yi).vectorize(x, vec);
}

void HarrisHalide::schedule_for_gpu(const Target &) {
    HarrisStages::schedule_for_gpu(gray);
}

}  // namespace apps
