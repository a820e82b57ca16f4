// Smooths a picture and keeps its edges, in the three variants.
#include "apps/common/demo.h"

using Pipe::Buffer;

namespace {

std::vector<apps::Inputs> channels(const Buffer<float> &photo) {
    std::vector<apps::Inputs> runs;
    for (int c = 0; c < 3; ++c)
        runs.push_back({photo.sliced(2, c)});
    return runs;
}

/// Variant B wants the frame of section 3.2, with its corner at 0.
std::vector<apps::Inputs> framed(const Buffer<float> &photo) {
    Buffer<float> frame = apps::framed(photo, 24, 32);
    frame.set_min(0, 0, 0);
    return channels(frame);
}

Buffer<> picture(const std::vector<Buffer<>> &outputs) {
    return apps::join_planes(outputs);
}

}  // namespace

int main(int argc, char **argv) {
    return apps::demo(argc, argv, apps::bilateral_grid_apps(),
                      {{"bilateral_grid_a", channels, picture},
                       {"bilateral_grid_b", framed, picture},
                       {"bilateral_grid_c", channels, picture}});
}
