// Makes a stereo pair of a picture, nearer toward the bottom, and shows it through a wide lens.
#include "apps/common/demo.h"

#include <algorithm>

using Pipe::Buffer;

namespace {

std::vector<apps::Inputs> pair(const Buffer<float> &photo) {
    const int width = int(photo.dim(0).extent()), height = int(photo.dim(1).extent());
    Buffer<uint8_t> left(width, height, 3), right(width, height, 3);
    left.fill([&](int x, int y, int c) { return uint8_t(photo(x, y, c) * 255 + 0.5f); });
    // right(x + 2 q) = left(x) is depth q: 0 at the top, 31 at the bottom
    right.fill([&](int x, int y, int c) {
        return left(std::clamp(x - 2 * (32 * y / height), 0, width - 1), y, c);
    });
    return {{left, right}};
}

Buffer<> picture(const std::vector<Buffer<>> &outputs) {
    return outputs[0];
}

}  // namespace

int main(int argc, char **argv) {
    return apps::demo(argc, argv, apps::lens_blur_apps(), {{"lens_blur", pair, picture}});
}
