#include <pipe/image_io.h>

#include "image_io/codec.h"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>

namespace Pipe {

namespace image_io {

void fail(const std::string &path, const std::string &problem) {
    throw RuntimeError(fmt::format("Image file '{}': {}", path, problem));
}

namespace {

Bytes read_file(const std::string &path) {
    if (std::filesystem::is_directory(path)) {
        fail(path, "it is a folder");
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
    fail(path, file.empty() ? "the file is empty" : "neither PNG nor JPEG, PGM or PPM");
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

// An (x, y, channel) view of what may be written; names what is wrong with anything else.
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
    Buffer<> image = pixels.bits == 8 ? Buffer<>(image_io::planar<uint8_t>(pixels))
                                      : Buffer<>(image_io::planar<uint16_t>(pixels));
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

void save_image(const Buffer<> &image, const std::string &path) {
    using namespace image_io;
    const std::string extension = lower_case_extension(path);
    const bool png = extension == ".png";
    const bool jpeg = extension == ".jpg" || extension == ".jpeg";
    if (!png && !jpeg && extension != ".pgm" && extension != ".ppm") {
        fail(path, "the extension is none of .png, .jpg, .jpeg, .pgm, .ppm");
    }
    const Buffer<> checked = check_for_writing(image, path);
    if (!png && !jpeg && checked.extent(2) != (extension == ".pgm" ? 1 : 3)) {
        fail(path, fmt::format("a {} file cannot hold {} channels", extension, checked.extent(2)));
    }
    const bool wide = checked.type() == UInt(16) && !jpeg;
    const Buffer<> samples = convert_image(checked, wide ? UInt(16) : UInt(8));
    const Pixels pixels =
        wide ? interleaved(samples.as<uint16_t>()) : interleaved(samples.as<uint8_t>());
    write_file(png ? encode_png(pixels, path)
                   : (jpeg ? encode_jpeg(pixels, path) : encode_pnm(pixels, path)),
               path);
}

}  // namespace Pipe
