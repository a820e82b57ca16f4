// Runs the network on the middle of a picture. The weights of the paper are not free: with the
// test's, what is added to the picture is noise.
#include "apps/common/arrays.h"
#include "apps/common/demo.h"

#include <algorithm>

using Pipe::Buffer;

namespace {

std::vector<apps::Inputs> with_weights(const Buffer<float> &photo) {
    const apps::App app = apps::vdsr_apps().front();
    const int photo_width = int(photo.dim(0).extent()), photo_height = int(photo.dim(1).extent());
    const int width = std::min(photo_width, 128), height = std::min(photo_height, 96);
    const int left = (photo_width - width) / 2, top = (photo_height - height) / 2;
    apps::Inputs inputs = apps::make_inputs(app, *app.make(), {std::max(width, 128), height});
    Buffer<uint8_t> picture(width, height, 3);
    picture.fill(
        [&](int x, int y, int c) { return uint8_t(photo(left + x, top + y, c) * 255 + 0.5f); });
    inputs[0] = picture;
    return {inputs};
}

Buffer<> middle(const apps::Inputs &inputs) {
    return inputs[0];
}

Buffer<> picture(const std::vector<Buffer<>> &outputs) {
    return outputs[0];
}

}  // namespace

int main(int argc, char **argv) {
    return apps::demo(argc, argv, apps::vdsr_apps(), {{"vdsr", with_weights, picture, middle}});
}
