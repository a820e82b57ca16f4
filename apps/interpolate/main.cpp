// Scatters holes over a picture and fills them, in both forms.
#include "apps/common/demo.h"
#include "apps/common/inputs.h"

using Pipe::Buffer;

namespace {

/// Nine pixels in ten are lost in discs all over the picture; the rest is opaque.
std::vector<apps::Inputs> with_holes(const Buffer<float> &photo) {
    return {{apps::make_planes(
        {{0, photo.dim(0).extent(), 0}, {0, photo.dim(1).extent(), 0}, {0, 4, 0}},
        [&](int x, int y, int k) {
            const int dx = x % 128 - 64, dy = y % 128 - 64;
            const bool hole = dx * dx + dy * dy < 48 * 48 && apps::u8(x, y, 7) % 10 != 0;
            if (k == 3)
                return hole ? 0.0f : 1.0f;
            return hole ? 0.0f : photo(x, y, k);
        })}};
}

Buffer<> picture(const std::vector<Buffer<>> &outputs) {
    return outputs[0];
}

/// The holes are black.
Buffer<> holes(const apps::Inputs &inputs) {
    return inputs[0].cropped(2, 0, 3);
}

}  // namespace

int main(int argc, char **argv) {
    return apps::demo(argc, argv, apps::interpolate_apps(),
                      {{"interpolate", with_holes, picture, holes},
                       {"interpolate_halide", with_holes, picture, holes}});
}
