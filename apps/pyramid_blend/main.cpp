// Blends a picture with its mirror image, the upper part of one and the lower part of the other.
#include "apps/common/demo.h"

using Pipe::Buffer;

namespace {

std::vector<apps::Inputs> pictures(const Buffer<float> &photo) {
    Buffer<float> one = apps::framed(photo, 31, 29);
    one.set_min(0, 0, 0);
    const int width = int(one.dim(0).extent()), height = int(one.dim(1).extent());
    const auto other =
        apps::make_planes({{0, width, 0}, {0, height, 0}, {0, 3, 0}},
                          [&](int x, int y, int c) { return one(width - 1 - x, y, c); });
    const auto mask = apps::make_planes({{0, width, 0}, {0, height, 0}},
                                        [&](int, int y, int) { return y < height / 2 ? 0 : 1; });
    return {{one, other, mask}};
}

Buffer<> picture(const std::vector<Buffer<>> &outputs) {
    return outputs[0];
}

}  // namespace

int main(int argc, char **argv) {
    return apps::demo(argc, argv, apps::pyramid_blend_apps(),
                      {{"pyramid_blend", pictures, picture}});
}
