#include "apps/pyramid_blend/pyramid_blend.h"

#include "apps/common/gpu.h"
#include "apps/common/pyramid.h"

namespace apps {
using namespace dsl;

PyramidBlend::PyramidBlend()
    : picture1(Float(32), 3, "picture1"), picture2(Float(32), 3, "picture2"),
      mask(Float(32), 2, "mask") {
    const std::string names[] = {"a", "b", "m"};
    for (int i = 0; i < 3; ++i) {
        gauss[i] = level_funcs("gauss_" + names[i], levels);
        halfy[i] = level_funcs("halfy_" + names[i], levels);
    }
    for (int i = 0; i < 2; ++i) {
        upy[i] = level_funcs("upy_" + names[i], levels);
        laplace[i] = level_funcs("laplace_" + names[i], levels);
    }
    blended = level_funcs("blended", levels);
    outy = level_funcs("outy", levels);
    out = level_funcs("out", levels);
    define_pyramids();

    const std::vector<Var> xyc = {x, y, c};
    for (int l = levels - 1; l >= 0; --l) {
        for (int i = 0; i < 2; ++i) {
            if (l == levels - 1) {
                laplace[i][l](x, y, c) = gauss[i][l](x, y, c);
                continue;
            }
            upy[i][l](x, y, c) = up_14641(gauss[i][l + 1], xyc, 1);
            laplace[i][l](x, y, c) = gauss[i][l](x, y, c) - up_14641(upy[i][l], xyc, 0);
        }
        const Expr m = gauss[2][l](x, y);
        blended[l](x, y, c) = laplace[0][l](x, y, c) * m + laplace[1][l](x, y, c) * (1.0f - m);
        if (l == levels - 1) {
            out[l](x, y, c) = blended[l](x, y, c);
            continue;
        }
        outy[l](x, y, c) = up_14641(out[l + 1], xyc, 1);
        out[l](x, y, c) = blended[l](x, y, c) + up_14641(outy[l], xyc, 0);
    }
    list_stages();
}

void PyramidBlend::define_pyramids() {
    const std::vector<Var> xy = {x, y}, xyc = {x, y, c};
    gauss[0][0](x, y, c) = picture1(x, y, c);
    gauss[1][0](x, y, c) = picture2(x, y, c);
    gauss[2][0](x, y) = mask(x, y);
    for (int l = 1; l < levels; ++l) {
        for (int i = 0; i < 2; ++i) {
            halfy[i][l](x, y, c) = down_14641(gauss[i][l - 1], xyc, 1);
            gauss[i][l](x, y, c) = down_14641(halfy[i][l], xyc, 0);
        }
        halfy[2][l](x, y) = down_14641(gauss[2][l - 1], xy, 1);
        gauss[2][l](x, y) = down_14641(halfy[2][l], xy, 0);
    }
}

void PyramidBlend::list_stages() {
    inputs = {picture1, picture2, mask};
    for (int l = 0; l < levels; ++l) {
        for (int i = 0; i < 3; ++i) {
            if (l > 0)
                stages.push_back(halfy[i][l]);
            stages.push_back(gauss[i][l]);
        }
    }
    for (int l = levels - 1; l >= 0; --l) {
        for (int i = 0; i < 2; ++i) {
            if (l < levels - 1)
                stages.push_back(upy[i][l]);
            stages.push_back(laplace[i][l]);
        }
        stages.push_back(blended[l]);
        if (l < levels - 1)
            stages.push_back(outy[l]);
        stages.push_back(out[l]);
    }
}

// The Gaussian levels are stored, rows in parallel; the way back up slides down strips of rows of
// the output, so that no Laplacian level is ever stored in full.
void PyramidBlend::schedule_by_hand(const Target &target) {
    const int vec = target.natural_vector_size(Float(32));
    for (int l = 1; l < levels; ++l) {
        for (int i = 0; i < 3; ++i) {
            gauss[i][l].compute_root().vectorize(x, vec).parallel(y, 8);
            if (i < 2)
                gauss[i][l].reorder(x, c, y);
            halfy[i][l].compute_at(gauss[i][l], y).vectorize(x, vec);
        }
    }
    const Func output = out[0];
    out[0].bound(c, 0, 3).split(y, yo, yi, 32).reorder(x, c, yi, yo).vectorize(x, vec).parallel(yo);
    for (int l = 0; l < levels; ++l) {
        if (l > 0) {
            out[l].store_at(output, yo).compute_at(output, yi).vectorize(x, vec);
        }
        if (l == levels - 1)
            continue;
        const Var loop = l == 0 ? c : y;
        outy[l].compute_at(out[l], loop).vectorize(x, vec);
        for (int i = 0; i < 2; ++i)
            upy[i][l].compute_at(out[l], loop).vectorize(x, vec);
    }
}

// One kernel for each level of each pyramid, and one for each level of the result. Both directions of a step meet in
// shared memory.
void PyramidBlend::schedule_for_gpu(const Target &) {
    const GPUTile tile{.width = 32, .height = 8};
    for (int l = 1; l < levels; ++l) {
        for (int i = 0; i < 3; ++i) {
            gauss[i][l].compute_root();
            GPUKernel down{gauss[i][l], x, y, i < 2 ? std::vector{c} : std::vector<Var>()};
            down.schedule(tile);
            down.share(halfy[i][l]);
        }
    }
    for (int l = levels - 1; l >= 0; --l) {
        out[l].compute_root().bound(c, 0, 3);
        GPUKernel up{out[l], x, y};
        up.schedule(tile, {c});
        if (l == levels - 1)
            continue;
        for (Func f : {outy[l], upy[0][l], upy[1][l]})
            up.share(f);
    }
}

}  // namespace apps
