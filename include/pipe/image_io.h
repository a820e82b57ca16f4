#pragma once
// Image files: PNG, JPEG, PGM, PPM and PFM.

#include <string>
#include <type_traits>

#include <pipe/buffer.h>

namespace Pipe {

/// Reads an image. The format is detected from the contents: PNG (any depth; palettes and
/// transparency are expanded), JPEG (gray or color), PGM/PPM (text or binary), PFM. The result has
/// the dimensions (x, y) if there is only one channel, else (x, y, channel), planar; its elements
/// are uint8, uint16 for files of more than 8 bits, or float for PFM. RuntimeError, naming the
/// file, if it cannot be read, is truncated or damaged, or has another format.
Buffer<> load_image(const std::string &path);

/// Writes an image in the format given by the file name's extension, without converting its
/// elements:
///
/// | extension   | channels                          | elements                                  |
/// |-------------|-----------------------------------|-------------------------------------------|
/// | .png        | 1 to 4; 2 and 4 with transparency | uint8, uint16; float, double as 16 bits   |
/// | .pgm, .ppm  | 1, 3                              | the same                                  |
/// | .jpg, .jpeg | 1, 3                              | uint8                                     |
/// | .pfm        | 1, 3                              | float; double, rounded to float           |
///
/// Floats stored as 16-bit integers must be from 0 to 1 (65535 is 1). bool is written as black and
/// white to formats with uint8. The Buffer has dimensions (x, y) or (x, y, channel), with any mins
/// and strides. RuntimeError, naming the file, in all other cases and if the file cannot be
/// written: values are never clamped or rounded to fewer bits implicitly. To convert, use
/// convert_image or convert_and_save_image, or save as .pfm.
void save_image(const Buffer<> &image, const std::string &path);

/// save_image, after converting the elements (with convert_image, which clamps) if the format
/// cannot store them: to uint16 for PNG, PGM and PPM, uint8 for JPEG, float for PFM. Errors as of
/// those two functions.
void convert_and_save_image(const Buffer<> &image, const std::string &path);

/// The same picture with another element type: uint8 (white is 255), uint16 (white is 65535), float
/// or double (white is 1; values outside 0..1 are clamped in conversions to integers). RuntimeError
/// for other types.
Buffer<> convert_image(const Buffer<> &image, Type type);

/// Reads an image and converts its elements: the values of `load_image_as<float>("in.png")` are in
/// 0..1.
template <typename T> Buffer<T> load_image_as(const std::string &path) {
    static_assert(std::is_same_v<T, uint8_t> || std::is_same_v<T, uint16_t> ||
                      std::is_floating_point_v<T>,
                  "images have elements uint8_t, uint16_t, float or double");
    return convert_image(load_image(path), type_of<T>());
}

}  // namespace Pipe
