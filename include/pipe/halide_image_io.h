#pragma once
// Halide::Tools: image files, for programs written for Halide.

#include <string>

#include <pipe/image_io.h>

namespace Pipe::Tools {

using Pipe::convert_and_save_image;
using Pipe::load_image;
using Pipe::save_image;

/// load_image for any elements: they are converted (Pipe::convert_image).
class load_and_convert_image {
  public:
    explicit load_and_convert_image(const std::string &path) : image_(load_image(path)) {}
    template <typename T, int D> operator Buffer<T, D>() const {
        return Buffer<T, D>(convert_image(image_, type_of<T>()));
    }

  private:
    Buffer<> image_;
};

}  // namespace Pipe::Tools
