#pragma once
// Image files: PNG and JPEG, PGM, PPM and PFM.

#include <string>
#include <type_traits>

#include <pipe/buffer.h>

namespace Pipe {

/// Reads an image. The format is found from the contents: PNG (any depth, palettes and transparency
/// expanded), JPEG (gray or color), PGM/PPM (text or binary), PFM. The result has the dimensions
/// (x, y) where there is one channel only, else (x, y, channel), planar; its elements are uint8,
/// uint16 for files of more than 8 bits, or float for PFM. Throws RuntimeError, naming the file, if
/// it cannot be read, is truncated or damaged, or has another format.
Buffer<> load_image(const std::string &path);

/// Writes an image in the format that the extension says, with its elements as they are:
///
/// | extension   | channels                          | elements                                  |
/// |-------------|-----------------------------------|-------------------------------------------|
/// | .png        | 1 to 4; 2 and 4 with transparency | uint8, uint16; float, double as 16 bits   |
/// | .pgm, .ppm  | 1, 3                              | the same                                  |
/// | .jpg, .jpeg | 1, 3                              | uint8                                     |
/// | .pfm        | 1, 3                              | float; double, rounded to float           |
///
/// Floats that become 16-bit integers have to be from 0 to 1 (65535 is 1). bool is written as black
/// and white where uint8 is possible. The Buffer has dimensions (x, y) or (x, y, channel), with any
/// mins and strides. Throws RuntimeError, naming the file, for anything else and if the file cannot
/// be written: nothing is clamped or rounded to fewer bits unasked. convert_image,
/// convert_and_save_image and the extension .pfm are the ways out.
void save_image(const Buffer<> &image, const std::string &path);

/// save_image, where elements that the format does not hold are converted (convert_image, which
/// clamps) to those that it holds and that keep most: uint16 in PNG, PGM and PPM, uint8 in JPEG,
/// float in PFM. RuntimeErrors as those of both.
void convert_and_save_image(const Buffer<> &image, const std::string &path);

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
