#pragma once
// Image files: PNG and JPEG, PGM and PPM.

#include <string>
#include <type_traits>

#include <pipe/buffer.h>

namespace Pipe {

/// Reads an image. The format is found from the contents: PNG (any depth, palettes and transparency
/// expanded), JPEG (grey or colour), PGM/PPM (text or binary). The result has the dimensions
/// (x, y) where there is one channel only, else (x, y, channel), planar; its elements are uint8, or
/// uint16 for files of more than 8 bits. Throws RuntimeError, naming the file, if it cannot be read, is
/// truncated or damaged, or has another format.
Buffer<> load_image(const std::string &path);

/// Writes an image in the format that the extension says: .png, .jpg/.jpeg, .pgm (one channel),
/// .ppm (three channels). The Buffer has dimensions (x, y) or (x, y, channel), with any mins and
/// strides, and 1 to 4 channels (JPEG: 1 or 3; channels 2 and 4 are transparency). uint8 and uint16
/// are written as they are (JPEG: 8 bits), float and double as 8 bits, clamped to 0..1 (NaN: 0),
/// bool as black and white. Throws RuntimeError, naming the file, for anything else and if the file
/// cannot be written.
void save_image(const Buffer<> &image, const std::string &path);

/// The same picture with other elements: uint8 (white is 255), uint16 (white is 65535), float or
/// double (white is 1; values outside 0..1 are clamped when integers are wanted). RuntimeError for
/// other types.
Buffer<> convert_image(const Buffer<> &image, Type type);

/// Reads an image and converts its elements: `load_image_as<float>("in.png")` has values 0..1.
template <typename T> Buffer<T> load_image_as(const std::string &path) {
    static_assert(std::is_same_v<T, uint8_t> || std::is_same_v<T, uint16_t> ||
                      std::is_floating_point_v<T>,
                  "images have elements uint8_t, uint16_t, float or double");
    return convert_image(load_image(path), type_of<T>());
}

}  // namespace Pipe
