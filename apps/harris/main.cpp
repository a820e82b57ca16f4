// Shows the corners of a picture, in both forms.
#include "apps/common/demo.h"

#include <algorithm>
#include <cmath>

using Pipe::Buffer;

namespace {

std::vector<apps::Inputs> gray(const Buffer<float> &photo) {
    return {{apps::luminance(photo)}};
}

/// With the frame that the registry asks for.
std::vector<apps::Inputs> frame(const Buffer<float> &photo) {
    return {{apps::framed(photo, 5, 5)}};
}

/// Corners have a large positive response, edges a negative one. The responses span many orders of
/// magnitude, so the picture shows the logarithm: black for none and for edges, white for the
/// strongest corner.
Buffer<> picture(const std::vector<Buffer<>> &outputs) {
    const Buffer<float> response = outputs[0];
    float strongest = 1e-20f;
    response.for_each_value([&](float r) { strongest = std::max(strongest, r); });
    const float contrast = 1e4f;
    return apps::make_planes({{response.dim(0).min(), response.dim(0).extent(), 0},
                              {response.dim(1).min(), response.dim(1).extent(), 0}},
                             [&](int x, int y, int) {
                                 const float r = std::max(0.0f, response(x, y) / strongest);
                                 return std::log1p(contrast * r) / std::log1p(contrast);
                             });
}

}  // namespace

int main(int argc, char **argv) {
    return apps::demo(argc, argv, apps::harris_apps(),
                      {{"harris", gray, picture}, {"harris_halide", frame, picture}});
}
