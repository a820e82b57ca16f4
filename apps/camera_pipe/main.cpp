// Develops raw data, in both forms. The picture given is the raw data itself, one channel, or a
// photograph, whose pixels are sampled as a sensor does.
#include "apps/common/demo.h"

#include <algorithm>

using Pipe::Buffer;

namespace {

/// What a value of the file means to a sensor of 10 bits: the number itself, where the file holds
/// raw data (of 16 bits per pixel it then uses 10), else a share of the largest value.
float counts(const Buffer<float> &photo) {
    float largest = 0;
    photo.for_each_value([&](float v) { largest = std::max(largest, v); });
    return largest * 65535 < 1023.5f ? 65535 : 1023;
}

std::vector<apps::Inputs> sensor(const Buffer<float> &photo) {
    const int width = int(photo.dim(0).extent()), height = int(photo.dim(1).extent());
    const float scale = counts(photo);
    Buffer<uint16_t> raw(width, height);
    raw.fill([&](int x, int y) {
        const int channel = x % 2 == y % 2 ? 1 : x % 2 ? 0 : 2;
        return uint16_t(photo(x, y, channel) * scale + 0.5f);
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
