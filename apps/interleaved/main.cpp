// Puts a picture's planes together, brightens it, and makes it gray: all with interleaved channels.
#include "apps/common/arrays.h"
#include "apps/common/demo.h"

using Pipe::Buffer;

namespace {

std::vector<apps::Inputs> bytes(const Buffer<float> &photo, bool interleaved) {
    const apps::Box box{{
                            0,
                            int(photo.dim(0).extent()),
                        },
                        {0, int(photo.dim(1).extent())},
                        {0, 3}};
    Buffer<> picture = apps::make_array(Pipe::UInt(8), box, interleaved);
    apps::fill(picture, [&](const apps::Point &p) {
        return double(int(photo(p[0], p[1], p[2]) * 255 + 0.5f));
    });
    return {{picture}};
}

std::vector<apps::Inputs> planar(const Buffer<float> &photo) {
    return bytes(photo, false);
}

std::vector<apps::Inputs> interleaved(const Buffer<float> &photo) {
    return bytes(photo, true);
}

Buffer<> picture(const std::vector<Buffer<>> &outputs) {
    const Buffer<uint8_t> out(outputs.at(0));
    const bool gray = out.dimensions() == 2;
    return apps::make_planes(
        {{0, out.dim(0).extent(), 0}, {0, out.dim(1).extent(), 0}, {0, 3, 0}},
        [&](int x, int y, int c) { return float(gray ? out(x, y) : out(x, y, c)) / 255; });
}

}  // namespace

int main(int argc, char **argv) {
    return apps::demo(argc, argv, apps::interleaved_apps(),
                      {{"interleave", planar, picture},
                       {"brighten_interleaved", interleaved, picture},
                       {"gray_interleaved", interleaved, picture}});
}
