#pragma once
// Halide::Tools: image files, for programs written for Halide.

#include <string>

#include <pipe/image_io.h>

namespace Pipe::Tools {

namespace detail {
/// Images of one channel have two dimensions there.
inline Buffer<> load(const std::string &path) {
    Buffer<> image = Pipe::load_image(path);
    if (image.dimensions() == 3 && image.channels() == 1)
        image.slice(2);
    return image;
}
}  // namespace detail

/// `Buffer<uint8_t> image = load_image("in.png");` RuntimeError where the file cannot be read or
/// has other elements.
class load_image {
  public:
    explicit load_image(const std::string &path) : image_(detail::load(path)) {}
    template <typename T, int D> operator Buffer<T, D>() const { return Buffer<T, D>(image_); }

  private:
    Buffer<> image_;
};

/// The same for any elements: they are converted (Pipe::convert_image).
class load_and_convert_image {
  public:
    explicit load_and_convert_image(const std::string &path) : image_(detail::load(path)) {}
    template <typename T, int D> operator Buffer<T, D>() const {
        return Buffer<T, D>(convert_image(image_, type_of<T>()));
    }

  private:
    Buffer<> image_;
};

/// RuntimeError where the file cannot hold such elements.
inline void save_image(const Buffer<> &image, const std::string &path) {
    Pipe::save_image(image, path);
}

/// The same; elements that the format has not are converted.
inline void convert_and_save_image(const Buffer<> &image, const std::string &path) {
    Type type = image.type();
    bool as_it_is = type == UInt(8) || type == UInt(16) || type.is_bool();
    Pipe::save_image(as_it_is ? image : convert_image(image, UInt(8)), path);
}

}  // namespace Pipe::Tools
