// Adds noise to a picture and takes it away.
#include "apps/common/demo.h"
#include "apps/common/inputs.h"

#include <algorithm>

using Pipe::Buffer;

namespace {

std::vector<apps::Inputs> noisy(const Buffer<float> &photo) {
    return {{apps::make_planes(
        {{0, photo.dim(0).extent(), 0}, {0, photo.dim(1).extent(), 0}, {0, 3, 0}},
        [&](int x, int y, int c) {
            const float noise = float(apps::u8(x, y, 2 * c) - apps::u8(x, y, 2 * c + 1)) / 255;
            return std::clamp(photo(x, y, c) + 0.15f * noise, 0.0f, 1.0f);
        })}};
}

Buffer<> picture(const std::vector<Buffer<>> &outputs) {
    return outputs[0];
}

Buffer<> with_noise(const apps::Inputs &inputs) {
    return inputs[0];
}

}  // namespace

int main(int argc, char **argv) {
    return apps::demo(argc, argv, apps::nl_means_apps(),
                      {{"nl_means", noisy, picture, with_noise}});
}
