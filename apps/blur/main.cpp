// Blurs a picture, channel by channel, in 12 bits.
#include "apps/common/demo.h"

using Pipe::Buffer;

namespace {

std::vector<apps::Inputs> inputs(const Buffer<float> &photo) {
    std::vector<apps::Inputs> channels;
    for (int c = 0; c < 3; ++c) {
        Buffer<uint16_t> channel(photo.dim(0).extent(), photo.dim(1).extent());
        channel.fill([&](int x, int y) { return uint16_t(photo(x, y, c) * 4095 + 0.5f); });
        channels.push_back({channel});
    }
    return channels;
}

Buffer<> picture(const std::vector<Buffer<>> &outputs) {
    const std::vector<Buffer<uint16_t>> channels(outputs.begin(), outputs.end());
    return apps::make_planes(
        {{0, channels[0].dim(0).extent(), 0}, {0, channels[0].dim(1).extent(), 0}, {0, 3, 0}},
        [&](int x, int y, int c) { return float(channels[size_t(c)](x, y)) / 4095; });
}

}  // namespace

int main(int argc, char **argv) {
    return apps::demo(argc, argv, apps::blur_apps(), {{"blur", inputs, picture}});
}
