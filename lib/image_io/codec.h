#pragma once
// Encoders and decoders between the bytes of a file and rows of interleaved pixels.

#include <cstdint>
#include <string>
#include <vector>

namespace Pipe::image_io {

/// An image as stored in files: rows from top to bottom, interleaved channels, no gaps.
struct Pixels {
    int64_t width = 0;
    int64_t height = 0;
    int channels = 0;
    int bits = 8;                ///< 8, 16, or 32: floats
    std::vector<uint8_t> bytes;  ///< samples of 16 and 32 bits in native byte order

    int64_t samples() const { return width * height * channels; }
    int64_t row_bytes() const { return width * channels * (bits / 8); }
    uint8_t *row(int64_t y) { return bytes.data() + y * row_bytes(); }
    const uint8_t *row(int64_t y) const { return bytes.data() + y * row_bytes(); }
    /// Allocates all rows, once the sizes are known.
    void allocate() { bytes.resize(static_cast<size_t>(height * row_bytes())); }
};

using Bytes = std::vector<uint8_t>;

/// All of these throw RuntimeError by fail(), with the path in the message.
Pixels decode_png(const Bytes &file, const std::string &path);
Pixels decode_jpeg(const Bytes &file, const std::string &path);
Pixels decode_pnm(const Bytes &file, const std::string &path);
Pixels decode_pfm(const Bytes &file, const std::string &path);
Bytes encode_png(const Pixels &image, const std::string &path);
Bytes encode_jpeg(const Pixels &image, const std::string &path);
Bytes encode_pnm(const Pixels &image, const std::string &path);
Bytes encode_pfm(const Pixels &image, const std::string &path);

[[noreturn]] void fail(const std::string &path, const std::string &problem);

}  // namespace Pipe::image_io
