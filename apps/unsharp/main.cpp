// Sharpens a picture, in both forms.
#include "apps/common/demo.h"

#include <algorithm>

using Pipe::Buffer;

namespace {

/// Section 1.1 wants a ghost frame of two zero pixels.
std::vector<apps::Inputs> ghosted(const Buffer<float> &photo) {
    const int width = int(photo.dim(0).extent()), height = int(photo.dim(1).extent());
    return {{apps::make_planes({{-2, width + 4, 0}, {-2, height + 4, 0}, {0, 3, 0}},
                               [&](int x, int y, int c) {
                                   const bool ghost = x < 0 || y < 0 || x >= width || y >= height;
                                   return ghost ? 0.0f : photo(x, y, c);
                               })}};
}

/// Section 1.2 divides by the luminance.
std::vector<apps::Inputs> positive(const Buffer<float> &photo) {
    return {{apps::make_planes(
        {{0, photo.dim(0).extent(), 0}, {0, photo.dim(1).extent(), 0}, {0, 3, 0}},
        [&](int x, int y, int c) { return std::max(photo(x, y, c), 1.0f / 256); })}};
}

Buffer<> picture(const std::vector<Buffer<>> &outputs) {
    return outputs[0];
}

}  // namespace

int main(int argc, char **argv) {
    return apps::demo(argc, argv, apps::unsharp_apps(),
                      {{"unsharp", ghosted, picture}, {"unsharp_halide", positive, picture}});
}
