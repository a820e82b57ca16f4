// Shows the edges that the kernel of the example finds in a picture.
#include "apps/common/demo.h"

using Pipe::Buffer;

namespace {

std::vector<apps::Inputs> gray(const Buffer<float> &photo) {
    return {{apps::luminance(photo)}};
}

Buffer<> picture(const std::vector<Buffer<>> &outputs) {
    const Buffer<float> edges = outputs[0];
    return apps::make_planes({{0, edges.dim(0).extent(), 0}, {0, edges.dim(1).extent(), 0}},
                             [&](int x, int y, int) { return edges(x, y); });
}

}  // namespace

int main(int argc, char **argv) {
    return apps::demo(argc, argv, apps::quantized_conv_apps(), {{"quantized_conv", gray, picture}});
}
