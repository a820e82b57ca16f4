#include "apps/interpolate/interpolate.h"

#include "apps/common/gpu.h"
#include "apps/common/pyramid.h"

namespace apps {
using namespace dsl;

InterpolateLevels::InterpolateLevels(int levels)
    : levels(levels), input(Float(32), 3, "input"), down(level_funcs("down", levels)),
      downy(level_funcs("downy", levels)), filled(level_funcs("filled", levels)),
      upy(level_funcs("upy", levels)), upx(level_funcs("upx", levels)) {
    inputs = {input};
}

void InterpolateLevels::define_down(int l, const Func &finer) {
    downy[l](x, y, k) = down_121(finer, {x, y, k}, 1);
    down[l](x, y, k) = down_121(downy[l], {x, y, k}, 0);
}

void InterpolateLevels::define_filled(int l, const Func &coarser) {
    upy[l](x, y, k) = up_linear(coarser, {x, y, k}, 1);
    upx[l](x, y, k) = up_linear(upy[l], {x, y, k}, 0);
    filled[l](x, y, k) = down[l](x, y, k) + (1.0f - down[l](x, y, 3)) * upx[l](x, y, k);
}

void InterpolateLevels::define_output() {
    normalized(x, y, k) = filled[0](x, y, k) / filled[0](x, y, 3);
    for (int l = 0; l < levels; ++l) {
        if (l > 0)
            stages.push_back(downy[l]);
        stages.push_back(down[l]);
    }
    for (int l = levels - 1; l >= 0; --l) {
        if (l < levels - 1)
            stages.insert(stages.end(), {upy[l], upx[l]});
        stages.push_back(filled[l]);
    }
    stages.push_back(normalized);
}

// On the way down, strips of rows in parallel; the finest level, where it can be told apart, is made
// again where the next one reads it, a window of rows at a time. On the way up, all levels slide
// along with strips of rows of the result.
void InterpolateLevels::schedule_by_hand(const Target &target) {
    const int vec = target.natural_vector_size(Float(32));
    const Var xo("xo"), yo("yo"), xi("xi"), yi("yi");
    for (int l = 1; l < levels - 1; ++l) {
        down[l].compute_root().reorder(x, k, y).split(y, yo, yi, 8).vectorize(x, vec).parallel(yo);
        downy[l].compute_at(down[l], yi).vectorize(x, vec);
    }
    if (finest_is_read_directly) {
        down[0]
            .clone_in(downy[1])
            .store_at(down[1], yo)
            .compute_at(down[1], yi)
            .reorder(k, x, y)
            .unroll(k)
            .vectorize(x, vec);
    } else {
        down[0].compute_root().parallel(y, 16).vectorize(x, vec);
    }
    normalized.bound(k, 0, 3)
        .split(x, xo, xi, vec)
        .split(y, yo, yi, 32)
        .reorder(xi, k, xo, yi, yo)
        .unroll(k)
        .vectorize(xi)
        .parallel(yo);
    for (int l = 1; l < levels; ++l)
        filled[l].store_at(normalized, yo).compute_at(normalized, yi).vectorize(x, vec);
}

// One kernel for each level of the way down, and one for each of the way up. A thread computes all channels of a point:
// they share the alpha.
void InterpolateLevels::schedule_for_gpu(const Target &) {
    for (int l = 1; l < levels; ++l) {
        down[l].compute_root().bound(k, 0, 4);
        GPUKernel kernel{down[l], x, y};
        kernel.schedule({.width = 32, .height = 8}, {k});
        kernel.share(downy[l]);
        downy[l].reorder(k, x, y).unroll(k);
    }
    for (int l = levels - 2; l >= 1; --l) {
        filled[l].compute_root().bound(k, 0, 4);
        GPUKernel{filled[l], x, y}.schedule({.width = 32, .height = 8}, {k});
    }
    normalized.bound(k, 0, 3);
    GPUKernel kernel{normalized, x, y};
    kernel.schedule({.width = 32, .height = 8, .rows = 2}, {k});
    kernel.keep(filled[0]);
}

Interpolate::Interpolate(int levels) : InterpolateLevels(levels) {
    auto zero_outside = [&](const Func &f, int l) {
        return BoundaryConditions::constant_exterior(
            f, 0.0f, {{0, input.width() / (1 << l)}, {0, input.height() / (1 << l)}});
    };
    down[0](x, y, k) = input(x, y, k) * input(x, y, 3);
    for (int l = 1; l < levels; ++l)
        define_down(l, zero_outside(down[l - 1], l - 1));
    filled[levels - 1](x, y, k) = down[levels - 1](x, y, k);
    for (int l = levels - 2; l >= 0; --l)
        define_filled(l, zero_outside(filled[l + 1], l + 1));
    define_output();
}

InterpolateHalide::InterpolateHalide(int levels, Form form) : InterpolateLevels(levels) {
    finest_is_read_directly = true;
    const Func in =
        BoundaryConditions::repeat_edge(input, {{0, input.width()}, {0, input.height()}});
    const Expr premultiplied = in(x, y, k) * in(x, y, 3);
    down[0](x, y, k) =
        form == Form::Of2018 ? premultiplied : select(k < 3, premultiplied, in(x, y, 3));
    const int cell = form == Form::Of2021 ? 8 : 16;
    for (int l = 1; l < levels; ++l) {
        Func finer = down[l - 1];
        if (l == 4) {
            Func clamped("clamped");
            clamped(x, y, k) =
                down[3](clamp(x, 0, input.width() / cell), clamp(y, 0, input.height() / cell), k);
            finer = clamped;
        }
        define_down(l, finer);
    }
    filled[levels - 1](x, y, k) = down[levels - 1](x, y, k);
    for (int l = levels - 2; l >= 0; --l)
        define_filled(l, filled[l + 1]);
    define_output();
}

}  // namespace apps
