#include "apps/local_laplacian/local_laplacian.h"

#include "apps/common/gpu.h"
#include "apps/common/pyramid.h"

namespace apps {
using namespace dsl;

LocalLaplacian::LocalLaplacian(const Options &options_)
    : options(options_), input(UInt(16), 3, "input"), gy(level_funcs("gy", options.levels)),
      g(level_funcs("g", options.levels)), iny(level_funcs("iny", options.levels)),
      in(level_funcs("in", options.levels)), lupy(level_funcs("lupy", options.levels)),
      lupx(level_funcs("lupx", options.levels)), lp(level_funcs("lp", options.levels)),
      oupy(level_funcs("oupy", options.levels)), oupx(level_funcs("oupx", options.levels)),
      outl(level_funcs("outl", options.levels)), out(level_funcs("out", options.levels)) {
    const bool halide = options.form == Form::Halide;
    const int K = options.intensities, top = 256 * (K - 1);

    const Region picture = {{0, input.width()}, {0, input.height()}};
    const Func picked =
        halide ? BoundaryConditions::repeat_edge(input, picture)
               : BoundaryConditions::constant_exterior(input, cast<uint16_t>(0), picture);
    const int red = halide ? 0 : 2;
    gray(x, y) =
        (0.299f * picked(x, y, red) + 0.587f * picked(x, y, 1) + 0.114f * picked(x, y, 2 - red)) *
        (1.0f / 65535);

    const Expr f = cast<float>(x) / 256.0f;
    remap(x) = options.alpha * f * exp(-f * f / 2.0f);

    const Expr level = k * (1.0f / float(K - 1));
    const Expr index = clamp(cast<int>(gray(x, y) * float(top)), 0, top) - 256 * k;
    g[0](x, y, k) = options.beta * (gray(x, y) - level) + level + remap(index);
    in[0](x, y) = gray(x, y);

    define_levels();
    define_color();
}

// Outside of the picture, level 0 is gray 0, remapped; the other levels are 0, and so is what is on
// the way to them.
Func LocalLaplacian::seen(const Func &f, int x_halved, int y_halved) const {
    if (options.form == Form::Halide || y_halved == 0)
        return f;
    return BoundaryConditions::constant_exterior(
        f, 0.0f, {{0, input.width() / (1 << x_halved)}, {0, input.height() / (1 << y_halved)}});
}

void LocalLaplacian::define_levels() {
    const std::vector<Var> xy = {x, y}, xyk = {x, y, k};
    const int J = options.levels, K = options.intensities;
    for (int l = 1; l < J; ++l) {
        gy[l](x, y, k) = down_1331(seen(g[l - 1], l - 1, l - 1), xyk, 1);
        g[l](x, y, k) = down_1331(seen(gy[l], l - 1, l), xyk, 0);
        iny[l](x, y) = down_1331(seen(in[l - 1], l - 1, l - 1), xy, 1);
        in[l](x, y) = down_1331(seen(iny[l], l - 1, l), xy, 0);
    }
    for (int l = J - 1; l >= 0; --l) {
        if (l == J - 1) {
            lp[l](x, y, k) = g[l](x, y, k);
        } else {
            lupy[l](x, y, k) = up_31(seen(g[l + 1], l + 1, l + 1), xyk, 1);
            lupx[l](x, y, k) = up_31(lupy[l], xyk, 0);
            lp[l](x, y, k) = g[l](x, y, k) - lupx[l](x, y, k);
        }
        const Expr v = in[l](x, y) * float(K - 1);
        const Expr li = clamp(cast<int>(v), 0, K - 2), lf = v - li;
        outl[l](x, y) = (1.0f - lf) * lp[l](x, y, li) + lf * lp[l](x, y, li + 1);
        if (l == J - 1) {
            out[l](x, y) = outl[l](x, y);
        } else {
            oupy[l](x, y) = up_31(seen(out[l + 1], l + 1, l + 1), xy, 1);
            oupx[l](x, y) = up_31(oupy[l], xy, 0);
            out[l](x, y) = oupx[l](x, y) + outl[l](x, y);
        }
    }
}

void LocalLaplacian::define_color() {
    const float eps = 0.01f;
    const Expr value = cast<float>(input(x, y, c)), own = gray(x, y), result = out[0](x, y);
    const Expr old =
        65535.0f * clamp(result * (value * (1.0f / 65535) + eps) / (own + eps), 0.0f, 1.0f);
    const Expr of_2023 = clamp(value * (result + eps) / (own + eps), 0.0f, 65535.0f);
    output_(x, y, c) = cast<uint16_t>(options.color == Color::Old ? old : of_2023);

    inputs = {input};
    stages = {remap, gray};
    for (int l = 0; l < options.levels; ++l) {
        if (l > 0)
            stages.insert(stages.end(), {gy[l], g[l], iny[l]});
        if (l == 0)
            stages.push_back(g[l]);
        stages.push_back(in[l]);
    }
    for (int l = options.levels - 1; l >= 0; --l) {
        const bool coarsest = l == options.levels - 1;
        if (!coarsest)
            stages.insert(stages.end(), {lupy[l], lupx[l]});
        stages.insert(stages.end(), {lp[l], outl[l]});
        if (!coarsest)
            stages.insert(stages.end(), {oupy[l], oupx[l]});
        stages.push_back(out[l]);
    }
    stages.push_back(output_);
}

// The pyramids of the remapped pictures are stored level by level, all intensities of a row
// together. The result's large levels slide down the strips of the output, the small ones are computed
// before. Each row of them picks its intensities from rows that are upsampled along y for all of them.
void LocalLaplacian::schedule_by_hand(const Target &target) {
    const int vec = target.natural_vector_size(Float(32));
    const int J = options.levels;
    const int strips = 5;  // levels that are worth threads

    remap.compute_root();
    output_.bound(c, 0, 3)
        .split(y, yo, yi, 64)
        .reorder(c, x, yi, yo)
        .unroll(c)
        .vectorize(x, vec)
        .parallel(yo);
    gray.compute_root().parallel(y, 32).vectorize(x, vec);
    for (int l = 1; l < J; ++l) {
        in[l].compute_root().vectorize(x, vec);
        g[l].compute_root().reorder_storage(x, k, y).reorder(x, k, y).vectorize(x, vec);
        gy[l].compute_at(g[l], k).vectorize(x, vec);
        iny[l].compute_at(in[l], y).vectorize(x, vec);
        if (l >= strips) {
            out[l].compute_root();
            continue;
        }
        in[l].parallel(y, 32);
        g[l].parallel(y, 8);
        if (l < J - 1) {
            out[l].store_at(output_, yo).compute_at(output_, yi).vectorize(x, vec);
            lupy[l].compute_at(out[l], y).vectorize(x, vec);
        } else {
            out[l].compute_root();
        }
    }
    out[0].compute_at(output_, yi).vectorize(x, vec);
    lupy[0].compute_at(out[0], y).vectorize(x, vec);
}

// One kernel for each level of each way. A thread computes the level for one of the intensities; those next to each other
// in a block read the same pixels. The table is made by the host.
void LocalLaplacian::schedule_for_gpu(const Target &) {
    remap.compute_root();
    gray.compute_root();
    GPUKernel{gray, x, y}.schedule({.width = 32, .height = 8});
    for (int l = 1; l < options.levels; ++l) {
        g[l].compute_root();
        GPUKernel remapped{g[l], x, y, {k}};
        remapped.schedule({.width = 32, .height = 8});
        remapped.share(gy[l]);
        in[l].compute_root();
        GPUKernel own{in[l], x, y};
        own.schedule({.width = 32, .height = 8});
        own.share(iny[l]);
        out[l].compute_root();
        GPUKernel{out[l], x, y}.schedule({.width = 32, .height = 8});
    }
    output_.bound(c, 0, 3);
    GPUKernel kernel{output_, x, y};
    kernel.schedule({.width = 32, .height = 8}, {c});
    kernel.keep(out[0]);
}

}  // namespace apps
