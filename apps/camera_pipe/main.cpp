// Develops raw data, in both forms. The picture given is the raw data itself, one channel, or a
// photograph, whose pixels are sampled as a sensor does.
#include "apps/common/demo.h"

#include <algorithm>

using Pipe::Buffer;

namespace {

/// Bayer data of 10 bits. A gray picture is taken as it is.
std::vector<apps::Inputs> sensor(const Buffer<float> &photo) {
    const int width = int(photo.dim(0).extent()), height = int(photo.dim(1).extent());
    Buffer<uint16_t> raw(width, height);
    raw.fill([&](int x, int y) {
        const int channel = x % 2 == y % 2 ? 1 : x % 2 ? 0 : 2;
        return uint16_t(photo(x, y, channel) * 1023 + 0.5f);
    });
    return {{raw}};
}

Buffer<> picture(const std::vector<Buffer<>> &outputs) {
    return outputs[0];
}

}  // namespace

int main(int argc, char **argv) {
    return apps::demo(argc, argv,
                      {{"camera_pipe", sensor, picture}, {"camera_pipe_halide", sensor, picture}});
}
