// Brings out the detail of a picture, in both forms.
#include "apps/common/demo.h"

using Pipe::Buffer;

namespace {

/// 16 bits per channel; the PolyMage form wants blue first.
Buffer<uint16_t> deep(const Buffer<float> &photo, bool blue_first) {
    Buffer<uint16_t> picture(photo.dim(0).extent(), photo.dim(1).extent(), 3);
    picture.fill([&](int x, int y, int c) {
        return uint16_t(photo(x, y, blue_first ? 2 - c : c) * 65535 + 0.5f);
    });
    return picture;
}

std::vector<apps::Inputs> bgr(const Buffer<float> &photo) {
    return {{deep(photo, true)}};
}
std::vector<apps::Inputs> rgb(const Buffer<float> &photo) {
    return {{deep(photo, false)}};
}

Buffer<> as_it_is(const std::vector<Buffer<>> &outputs) {
    return outputs[0];
}
Buffer<> swapped(const std::vector<Buffer<>> &outputs) {
    const Buffer<uint16_t> bgr = outputs[0];
    Buffer<uint16_t> rgb(bgr.dim(0).extent(), bgr.dim(1).extent(), 3);
    rgb.fill([&](int x, int y, int c) { return bgr(x, y, 2 - c); });
    return rgb;
}

}  // namespace

int main(int argc, char **argv) {
    return apps::demo(
        argc, argv, apps::local_laplacian_apps(),
        {{"local_laplacian", bgr, swapped}, {"local_laplacian_halide", rgb, as_it_is}});
}
