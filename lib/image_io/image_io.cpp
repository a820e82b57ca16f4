#include <pipe/image_io.h>

#include "image_io/codec.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string_view>

#include <fmt/format.h>

#include "support/error_text.h"

namespace Pipe {

namespace image_io {

void fail(const std::string &path, const std::string &problem) {
    throw RuntimeError(
        fmt::format("Image file '{}': {}", support::marked(support::Field::Func, path), problem));
}

namespace {

Bytes read_file(const std::string &path) {
    if (std::filesystem::is_directory(path)) {
        fail(path, "it is a directory");
    }
    std::ifstream in(path, std::ios::binary);
    if (!in) {
        fail(path, fmt::format("cannot be opened for reading: {}", std::strerror(errno)));
    }
    in.seekg(0, std::ios::end);
    Bytes bytes(static_cast<size_t>(std::max<std::streamoff>(in.tellg(), 0)));
    in.seekg(0);
    in.read(reinterpret_cast<char *>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    if (!in) {
        fail(path, "cannot be read");
    }
    return bytes;
}

void write_file(const Bytes &bytes, const std::string &path) {
    std::ofstream out(path, std::ios::binary);
    if (!out) {
        fail(path, fmt::format("cannot be opened for writing: {}", std::strerror(errno)));
    }
    out.write(reinterpret_cast<const char *>(bytes.data()),
              static_cast<std::streamsize>(bytes.size()));
    out.close();
    if (!out) {
        fail(path, "cannot be written; the disk may be full");
    }
}

bool starts_with(const Bytes &file, std::initializer_list<uint8_t> magic) {
    return file.size() >= magic.size() && std::equal(magic.begin(), magic.end(), file.begin());
}

Pixels decode(const Bytes &file, const std::string &path) {
    if (starts_with(file, {0x89, 'P', 'N', 'G'})) {
        return decode_png(file, path);
    }
    if (starts_with(file, {0xff, 0xd8})) {
        return decode_jpeg(file, path);
    }
    for (uint8_t kind : {'2', '3', '5', '6'}) {
        if (starts_with(file, {'P', kind})) {
            return decode_pnm(file, path);
        }
    }
    for (uint8_t kind : {'f', 'F'}) {
        if (starts_with(file, {'P', kind})) {
            return decode_pfm(file, path);
        }
    }
    fail(path, file.empty() ? "the file is empty" : "it is not a PNG, JPEG, PGM, PPM or PFM file");
}

std::string lower_case_extension(const std::string &path) {
    std::string extension = std::filesystem::path(path).extension().string();
    std::transform(extension.begin(), extension.end(), extension.begin(),
                   [](unsigned char c) { return std::tolower(c); });
    return extension;
}

template <typename T> Buffer<> planar(const Pixels &pixels) {
    const auto *samples = reinterpret_cast<const T *>(pixels.bytes.data());
    Buffer<const T> wrapped =
        Buffer<const T>::make_interleaved(samples, pixels.width, pixels.height, pixels.channels);
    Buffer<T> image(pixels.width, pixels.height, pixels.channels);
    image.copy_from(wrapped);
    return image;
}

template <typename T> Pixels interleaved(const Buffer<T> &image) {
    Pixels pixels;
    pixels.width = image.extent(0);
    pixels.height = image.extent(1);
    pixels.channels = static_cast<int>(image.extent(2));
    pixels.bits = 8 * sizeof(T);
    pixels.allocate();
    auto wrapped = Buffer<T>::make_interleaved(reinterpret_cast<T *>(pixels.bytes.data()),
                                               pixels.width, pixels.height, pixels.channels);
    wrapped.set_min(image.min(0), image.min(1), image.min(2));
    wrapped.copy_from(image);
    return pixels;
}

// An (x, y, channel) view of the image; an error, naming the problem, if it cannot be written.
Buffer<> check_for_writing(const Buffer<> &image, const std::string &path) {
    if (!image.defined() || image.data() == nullptr) {
        fail(path, "the image to write is undefined or has no memory");
    }
    if (image.dimensions() != 2 && image.dimensions() != 3) {
        fail(path,
             fmt::format("an image to write has 2 or 3 dimensions, not {}", image.dimensions()));
    }
    for (int d = 0; d < image.dimensions(); d++) {
        if (image.extent(d) == 0) {
            fail(path, fmt::format("the extent of dimension {} of the image is zero", d));
        }
        if (d < 2 && image.extent(d) > INT32_MAX) {
            fail(path, fmt::format("the extent {} of dimension {} is too large for image files",
                                   image.extent(d), d));
        }
    }
    if (image.channels() > 4) {
        fail(path, fmt::format("an image to write has 1 to 4 channels, not {}", image.channels()));
    }
    return image.dimensions() == 2 ? image.embedded(2) : image;
}

// Values 0..1 of any image type, and back.
template <typename T> double to_unit(T value) {
    if constexpr (std::is_floating_point_v<T> || std::is_same_v<T, bool>) {
        return static_cast<double>(value);
    } else {
        return static_cast<double>(value) / std::numeric_limits<T>::max();
    }
}

template <typename T> T from_unit(double value) {
    if constexpr (std::is_floating_point_v<T>) {
        return static_cast<T>(value);
    } else {
        const double clamped = value > 0 ? std::min(value, 1.0) : 0.0;  // NaN becomes 0
        return static_cast<T>(std::lround(clamped * std::numeric_limits<T>::max()));
    }
}

template <typename From, typename To> Buffer<> convert(const Buffer<> &image) {
    auto result = Buffer<To>::make_with_shape_of(image, image.name());
    result.for_each_value([](To &to, From from) { to = from_unit<To>(to_unit<From>(from)); },
                          image.as<const From>());
    return result;
}

[[noreturn]] void fail_type(Type type) {
    throw RuntimeError(fmt::format(
        "Images have elements of type uint8, uint16, float32 or float64, not {}", to_string(type)));
}

/// The types that convert_image() takes.
bool can_convert(Type type) {
    return type.is_bool() || type == UInt(8) || type == UInt(16) || type == Float(32) ||
           type == Float(64);
}

template <typename From> Buffer<> convert_from(const Buffer<> &image, Type to) {
    if (to == UInt(8)) {
        return convert<From, uint8_t>(image);
    }
    if (to == UInt(16)) {
        return convert<From, uint16_t>(image);
    }
    if (to == Float(32)) {
        return convert<From, float>(image);
    }
    if (to == Float(64)) {
        return convert<From, double>(image);
    }
    fail_type(to);
}

}  // namespace

}  // namespace image_io

Buffer<> load_image(const std::string &path) {
    const image_io::Pixels pixels = image_io::decode(image_io::read_file(path), path);
    Buffer<> image = pixels.bits == 8    ? Buffer<>(image_io::planar<uint8_t>(pixels))
                     : pixels.bits == 16 ? Buffer<>(image_io::planar<uint16_t>(pixels))
                                         : Buffer<>(image_io::planar<float>(pixels));
    return image.channels() == 1 ? image.sliced(2) : image;
}

Buffer<> convert_image(const Buffer<> &image, Type type) {
    const Type from = image.type();
    if (from == type) {
        return image;
    }
    if (from == UInt(8)) {
        return image_io::convert_from<uint8_t>(image, type);
    }
    if (from == UInt(16)) {
        return image_io::convert_from<uint16_t>(image, type);
    }
    if (from == Float(32)) {
        return image_io::convert_from<float>(image, type);
    }
    if (from == Float(64)) {
        return image_io::convert_from<double>(image, type);
    }
    if (from.is_bool()) {
        return image_io::convert_from<bool>(image, type);
    }
    image_io::fail_type(from);
}

namespace image_io {
namespace {

/// The capabilities of a file format.
struct Format {
    const char *name;
    std::string_view extension, other_extension;
    int channels;  ///< 0: checked by the encoder
    bool wide;     ///< integers of 16 bits too
    bool floats;   ///< floats, and no integers
    Bytes (*encode)(const Pixels &, const std::string &);
};

constexpr std::array formats = {
    Format{"PNG", ".png", "", 0, true, false, encode_png},
    Format{"JPEG", ".jpg", ".jpeg", 0, false, false, encode_jpeg},
    Format{"PGM", ".pgm", "", 1, true, false, encode_pnm},
    Format{"PPM", ".ppm", "", 3, true, false, encode_pnm},
    Format{"PFM", ".pfm", "", 0, false, true, encode_pfm},
};

const Format &format_of(const std::string &path) {
    const std::string extension = lower_case_extension(path);
    for (const Format &format : formats) {
        if (!extension.empty() &&
            (extension == format.extension || extension == format.other_extension)) {
            return format;
        }
    }
    fail(path, "the extension is not one of .png, .jpg, .jpeg, .pgm, .ppm, .pfm");
}

/// Converts floats to integers only if nothing but precision is lost.
template <typename T> void require_unit_range(const Buffer<T> &image, const std::string &path) {
    std::remove_const_t<T> low = 0, high = 1;
    bool numbers = true;
    image.for_each_value([&](T value) {
        numbers &= !std::isnan(value);
        low = std::min(low, value);
        high = std::max(high, value);
    });
    if (numbers && low >= 0 && high <= 1) {
        return;
    }
    const std::string given =
        numbers ? fmt::format("from {:g} to {:g}", low, high) : std::string("NaN");
    fail(path,
         fmt::format("its elements must be in the range {} to be written as 16-bit integers, but "
                     "are {}. Scale or clamp them first, convert them with "
                     "convert_image(image, UInt(16)), which clamps, or write a .pfm file, "
                     "which can store any float.",
                     support::marked(support::Field::Needed, "0 to 1"),
                     support::marked(support::Field::Given, given)));
}

[[noreturn]] void fail_type(const Format &format, Type type, const char *holds,
                            const std::string &path) {
    const std::string what_to_do =
        can_convert(type) ? fmt::format("Convert the image with convert_image(image, {}) or "
                                        "convert_and_save_image(), or use another extension (.png: "
                                        "uint8 and uint16, .pfm: floats).",
                                        format.floats ? "Float(32)" : "UInt(8)")
                          : "Convert its elements in the pipeline, with cast().";
    fail(path, fmt::format("{} holds {}, not {}. {}", format.name,
                           support::marked(support::Field::Needed, holds),
                           support::marked(support::Field::Given, to_string(type)), what_to_do));
}

/// The elements in the representation of the format.
Type written_type(const Format &format, const Buffer<> &image, const std::string &path) {
    const Type type = image.type();
    if (format.floats) {
        if (!type.is_float() || type.bits() < 32) {
            fail_type(format, type, "float32", path);
        }
        return Float(32);
    }
    if (type == UInt(8) || type.is_bool()) {
        return UInt(8);
    }
    if (!format.wide) {
        fail_type(format, type, "uint8", path);
    }
    if (type == Float(32)) {
        require_unit_range(image.as<const float>(), path);
    } else if (type == Float(64)) {
        require_unit_range(image.as<const double>(), path);
    } else if (type != UInt(16)) {
        fail_type(format, type, "uint8 and uint16", path);
    }
    return UInt(16);
}

}  // namespace
}  // namespace image_io

void save_image(const Buffer<> &image, const std::string &path) {
    using namespace image_io;
    const Format &format = format_of(path);
    const Buffer<> checked = check_for_writing(image, path);
    checked.copy_to_host();
    if (format.channels != 0 && checked.extent(2) != format.channels) {
        fail(path,
             fmt::format("a {} file cannot hold {} channels", format.extension, checked.extent(2)));
    }
    const Type type = written_type(format, checked, path);
    const Buffer<> samples = convert_image(checked, type);
    const Pixels pixels = type == UInt(8)    ? interleaved(samples.as<uint8_t>())
                          : type == UInt(16) ? interleaved(samples.as<uint16_t>())
                                             : interleaved(samples.as<float>());
    write_file(format.encode(pixels, path), path);
}

void convert_and_save_image(const Buffer<> &image, const std::string &path) {
    const image_io::Format &format = image_io::format_of(path);
    const Type type = image.type();
    if (format.floats) {
        save_image(convert_image(image, Float(32)), path);
    } else if (type == UInt(8) || type.is_bool()) {
        save_image(image, path);
    } else {
        save_image(convert_image(image, format.wide ? UInt(16) : UInt(8)), path);
    }
}

}  // namespace Pipe
