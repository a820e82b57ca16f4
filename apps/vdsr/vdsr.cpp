#include "apps/vdsr/vdsr.h"

#include "apps/common/conv.h"
#include "apps/common/gpu.h"
#include "apps/common/gpu_conv.h"

namespace apps {
using namespace dsl;

Vdsr::Vdsr(int layers)
    : picture(UInt(8), 3, "picture"), first(Float(32), 3, "first"), middle(Float(32), 5, "middle"),
      last(Float(32), 3, "last"), bias(Float(32), 2, "bias"),
      r(0, last.dim(0).extent(), 0, 3, 0, 3, "r"), r_first(0, 3, 0, 3, "r_first") {
    inputs = {picture, first, middle, last, bias};
    to_luma();
    define_layers(layers);
    to_rgb();
}

void Vdsr::to_luma() {
    const Expr red = cast<float>(picture(x, y, 0)), green = cast<float>(picture(x, y, 1)),
               blue = cast<float>(picture(x, y, 2));
    const Expr scale = 1.0f / 255;
    luma(x, y) = clamp((16 + 0.257f * red + 0.504f * green + 0.098f * blue) * scale, 16.0f / 255,
                       235.0f / 255);
    cb(x, y) = (128 - 0.148f * red - 0.291f * green + 0.439f * blue) * scale;
    cr(x, y) = (128 + 0.439f * red - 0.368f * green - 0.071f * blue) * scale;
    stages = {luma, cb, cr};
}

Func Vdsr::pad(const Func &f, bool channels) const {
    Region bounds = {{0, picture.width()}, {0, picture.height()}};
    if (channels)
        bounds.insert(bounds.begin(), Range(Expr(), Expr()));
    return BoundaryConditions::constant_exterior(f, 0.0f, bounds);
}

void Vdsr::define_layers(int layers) {
    for (int l = 0; l + 1 < layers; ++l) {
        const std::string number = std::to_string(l + 1);
        Func sum("conv_" + number), positive("layer_" + number);
        sum(c, x, y) = bias(c, l);
        if (l == 0) {
            padded.push_back(pad(luma, false));
            sum(c, x, y) +=
                first(c, r_first.x, r_first.y) * padded[0](x + r_first.x - 1, y + r_first.y - 1);
        } else {
            padded.push_back(pad(result.back(), true));
            sum(c, x, y) +=
                middle(c, r.y, r.z, r.x, l - 1) * padded.back()(r.x, x + r.y - 1, y + r.z - 1);
        }
        positive(c, x, y) = max(sum(c, x, y), 0.0f);
        conv.push_back(sum);
        result.push_back(positive);
        stages.insert(stages.end(), {padded.back(), sum, positive});
    }
    padded.push_back(pad(result.back(), true));
    detail(x, y) = bias(0, layers - 1);
    detail(x, y) += last(r.x, r.y, r.z) * padded.back()(r.x, x + r.y - 1, y + r.z - 1);
    stages.insert(stages.end(), {padded.back(), detail});
}

void Vdsr::to_rgb() {
    const Expr luminance = 255.0f * (detail(x, y) + luma(x, y)) - 16;
    const Expr blueness = 255.0f * cb(x, y) - 128, redness = 255.0f * cr(x, y) - 128;
    const Expr red = 1.164f * luminance + 1.596f * redness;
    const Expr green = 1.164f * luminance - 0.392f * blueness - 0.813f * redness;
    const Expr blue = 1.164f * luminance + 2.017f * blueness;
    sharpened(x, y, c) =
        cast<uint8_t>(clamp(select(c == 0, red, c == 1, green, blue), 0.0f, 255.0f));
    stages.push_back(sharpened);
}

// Layer by layer, each stored with its frame of zeros; rows in parallel.
void Vdsr::schedule_by_hand(const Target &target) {
    const int vec = target.natural_vector_size(Float(32));
    const int channels = 64, width = 256;  // the paper's
    const RegisterBlock block = register_block(target, channels / vec, width);
    for (size_t l = 0; l < padded.size(); ++l) {
        const std::vector<Var> args = padded[l].args();
        padded[l].compute_root().vectorize(args[0], vec).parallel(args.back(), 8);
        if (l == conv.size())
            break;
        result[l].compute_root().parallel(y, 4);
        const std::vector<RVar> sums =
            l == 0 ? std::vector{r_first.x, r_first.y} : std::vector{r.x, r.y, r.z};
        schedule_convolution(conv[l], sums, result[l], c, x, target, block);
        if (l > 0)
            put_together(middle.in(conv[l]), target).compute_root();
    }
    luma.compute_root().vectorize(x, vec).parallel(y, 8);
    detail.compute_root().vectorize(x, vec).parallel(y, 8);
    detail.update().reorder(r.x, r.y, r.z, x, y).parallel(y, 4);
    sharpened.bound(c, 0, 3).reorder(c, x, y).unroll(c).vectorize(x, vec).parallel(y, 8);
}

// One kernel for each layer, which pads its input where it loads it.
void Vdsr::schedule_for_gpu(const Target &) {
    luma.compute_root();
    GPUKernel{luma, x, y}.schedule({.width = 32, .height = 8});
    for (size_t l = 0; l < conv.size(); ++l) {
        result[l].compute_root();
        if (l > 0) {
            schedule_convolution_for_gpu(
                conv[l], r, middle.in(conv[l]), padded[l], result[l], c, x, y, {},
                {.channels = 2, .pixels = 4, .width = 4, .height = 2, .step = 8});
            continue;
        }
        const Var bx("bx"), tx("tx");
        result[l].split(x, bx, tx, 8).reorder(c, tx, bx, y).gpu_threads(c, tx).gpu_blocks(bx, y);
        conv[l].compute_at(result[l], c).update().unroll(r_first.x).unroll(r_first.y);
    }
    sharpened.bound(c, 0, 3);
    detail.compute_root();
    GPUKernel last{detail, x, y};
    last.schedule({.width = 32, .height = 4});
    const Var bx("bx"), tx("tx"), by("by"), ty("ty");
    const RVar ko("ko"), ki("ki");
    detail.update()
        .split(x, bx, tx, 32)
        .split(y, by, ty, 4)
        .split(r.x, ko, ki, 16)
        .reorder({ki, r.y, r.z, tx, ty, ko, bx, by})
        .gpu_threads(tx, ty)
        .gpu_blocks(bx, by);
    Func read = padded.back();
    read.compute_at(detail, ko).gpu_threads(read.args()[0], read.args()[1], read.args()[2]);
    GPUKernel{sharpened, x, y}.schedule({.width = 32, .height = 8}, {c});
}

}  // namespace apps
