// Runs the network on a picture. The weights of the paper are not free: with the test's, what is
// added to the picture is noise.
#include "apps/common/arrays.h"
#include "apps/common/demo.h"

using Pipe::Buffer;

namespace {

std::vector<apps::Inputs> with_weights(const Buffer<float> &photo) {
    const apps::App &app = *apps::find_app("vdsr");
    const int width = int(photo.dim(0).extent()), height = int(photo.dim(1).extent());
    apps::Inputs inputs = apps::make_inputs(app, *app.make(), {std::max(width, 128), height});
    Buffer<uint8_t> picture(width, height, 3);
    picture.fill([&](int x, int y, int c) { return uint8_t(photo(x, y, c) * 255 + 0.5f); });
    inputs[0] = picture;
    return {inputs};
}

Buffer<> picture(const std::vector<Buffer<>> &outputs) {
    return outputs[0];
}

}  // namespace

int main(int argc, char **argv) {
    return apps::demo(argc, argv, {{"vdsr", with_weights, picture}});
}
