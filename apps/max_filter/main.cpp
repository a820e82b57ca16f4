// Lets every bright spot of a picture grow to a disc.
#include "apps/common/demo.h"

using Pipe::Buffer;

namespace {

std::vector<apps::Inputs> photo_itself(const Buffer<float> &photo) {
    return {{photo}};
}

Buffer<> picture(const std::vector<Buffer<>> &outputs) {
    return outputs[0];
}

}  // namespace

int main(int argc, char **argv) {
    return apps::demo(argc, argv, apps::max_filter_apps(), {{"max_filter", photo_itself, picture}});
}
