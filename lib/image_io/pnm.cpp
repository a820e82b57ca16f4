// PGM and PPM (netpbm): P2/P3 with numbers as text, P5/P6 binary, one or two bytes per sample. PFM:
// Pf/PF, 32-bit floats, the bottom row first.

#include "image_io/codec.h"

#include <bit>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <cstring>

#include <fmt/format.h>

namespace Pipe::image_io {

namespace {

class Scanner {
  public:
    Scanner(const Bytes &file, const std::string &path) : file_(file), path_(path) {}

    size_t left() const { return file_.size() - at_; }
    uint8_t byte() { return file_[at_++]; }
    void skip(size_t n) { at_ += n; }

    const uint8_t *here() const { return file_.data() + at_; }

    // Skips to the next word, over white space and comments (# up to the end of the line).
    void to_word(const char *what) {
        while (left() > 0 && (std::isspace(file_[at_]) != 0 || file_[at_] == '#')) {
            if (byte() == '#') {
                while (left() > 0 && byte() != '\n') {
                }
            }
        }
        if (left() == 0) {
            fail(path_, fmt::format("the file is truncated: {} is missing", what));
        }
    }

    // The characters up to the next white space.
    std::string word(const char *what) {
        to_word(what);
        std::string text;
        while (left() > 0 && std::isspace(file_[at_]) == 0) {
            text += static_cast<char>(byte());
        }
        return text;
    }

    // A number in decimal digits.
    int64_t number(const char *what, int64_t limit) {
        to_word(what);
        if (std::isdigit(file_[at_]) == 0) {
            fail(path_, fmt::format("{} is not a number", what));
        }
        int64_t value = 0;
        while (left() > 0 && std::isdigit(file_[at_]) != 0) {
            value = value * 10 + (byte() - '0');
            if (value > limit) {
                fail(path_, fmt::format("{} is larger than {}", what, limit));
            }
        }
        return value;
    }

  private:
    const Bytes &file_;
    const std::string &path_;
    size_t at_ = 0;
};

constexpr int64_t largest_side = 1 << 24;

void store(Pixels &image, int64_t i, int64_t value) {
    if (image.bits == 8) {
        image.bytes[static_cast<size_t>(i)] = static_cast<uint8_t>(value);
    } else {
        const auto sample = static_cast<uint16_t>(value);
        std::memcpy(image.bytes.data() + 2 * i, &sample, 2);
    }
}

int64_t load(const Pixels &image, int64_t i) {
    if (image.bits == 8) {
        return image.bytes[static_cast<size_t>(i)];
    }
    uint16_t sample = 0;
    std::memcpy(&sample, image.bytes.data() + 2 * i, 2);
    return sample;
}

}  // namespace

Pixels decode_pnm(const Bytes &file, const std::string &path) {
    Scanner in(file, path);
    in.skip(1);
    const uint8_t kind = in.byte();
    const bool text = kind == '2' || kind == '3';
    Pixels image;
    image.channels = kind == '2' || kind == '5' ? 1 : 3;
    image.width = in.number("the width", largest_side);
    image.height = in.number("the height", largest_side);
    const int64_t white = in.number("the maximum value", 65535);
    if (image.width == 0 || image.height == 0 || white == 0) {
        fail(path, fmt::format("width {}, height {} and maximum value {} must not be zero",
                               image.width, image.height, white));
    }
    image.bits = white < 256 ? 8 : 16;
    if (!text && in.left() > 0) {
        in.skip(1);  // the one white space after the header
    }
    // A number as text takes a digit and, except the last, a space: check before memory is
    // allocated.
    const int64_t needed = text ? 2 * image.samples() - 1 : image.samples() * (image.bits / 8);
    if (static_cast<int64_t>(in.left()) < needed) {
        fail(path, fmt::format("the file is truncated: {} x {} pixels with {} channels need {} "
                               "bytes, {} are there",
                               image.width, image.height, image.channels, needed, in.left()));
    }
    image.allocate();
    const int64_t scale_to = image.bits == 8 ? 255 : 65535;
    for (int64_t i = 0; i < image.samples(); i++) {
        int64_t value = 0;
        if (text) {
            value = in.number("a sample", white);
        } else {
            value = in.byte();
            if (image.bits == 16) {
                value = value * 256 + in.byte();
            }
            if (value > white) {
                fail(path, fmt::format("sample {} is larger than {}", value, white));
            }
        }
        store(image, i, (value * scale_to + white / 2) / white);
    }
    return image;
}

Bytes encode_pnm(const Pixels &image, const std::string &path) {
    if (image.channels != 1 && image.channels != 3) {
        fail(path, fmt::format("PGM and PPM hold 1 or 3 channels, not {}", image.channels));
    }
    const std::string header =
        fmt::format("P{}\n{} {}\n{}\n", image.channels == 1 ? 5 : 6, image.width, image.height,
                    image.bits == 8 ? 255 : 65535);
    Bytes out(header.begin(), header.end());
    for (int64_t i = 0; i < image.samples(); i++) {
        const int64_t value = load(image, i);
        if (image.bits == 16) {
            out.push_back(static_cast<uint8_t>(value >> 8));
        }
        out.push_back(static_cast<uint8_t>(value & 255));
    }
    return out;
}

namespace {

/// In native byte order, converted to or from the file's.
void swap_bytes(std::vector<uint8_t> &samples) {
    for (size_t i = 0; i + 4 <= samples.size(); i += 4) {
        std::swap(samples[i], samples[i + 3]);
        std::swap(samples[i + 1], samples[i + 2]);
    }
}

constexpr bool host_is_little = std::endian::native == std::endian::little;

}  // namespace

Pixels decode_pfm(const Bytes &file, const std::string &path) {
    Scanner in(file, path);
    in.skip(1);
    Pixels image;
    image.bits = 32;
    image.channels = in.byte() == 'f' ? 1 : 3;
    image.width = in.number("the width", largest_side);
    image.height = in.number("the height", largest_side);
    const std::string text = in.word("the scale");
    char *end = nullptr;
    const double scale = std::strtod(text.c_str(), &end);  // its sign gives the byte order
    if (image.width == 0 || image.height == 0 || *end != '\0' || scale == 0 ||
        !std::isfinite(scale)) {
        fail(path, fmt::format("width {}, height {} and scale '{}' must be numbers other than zero",
                               image.width, image.height, text));
    }
    in.skip(in.left() > 0 ? 1 : 0);  // the one white space after the header
    const int64_t needed = image.samples() * 4;
    if (static_cast<int64_t>(in.left()) < needed) {
        fail(path, fmt::format("the file is truncated: {} x {} pixels with {} channels need {} "
                               "bytes, {} are there",
                               image.width, image.height, image.channels, needed, in.left()));
    }
    image.allocate();
    for (int64_t y = 0; y < image.height; y++) {
        std::memcpy(image.row(image.height - 1 - y), in.here() + y * image.row_bytes(),
                    static_cast<size_t>(image.row_bytes()));
    }
    if ((scale < 0) != host_is_little) {
        swap_bytes(image.bytes);
    }
    return image;
}

Bytes encode_pfm(const Pixels &image, const std::string &path) {
    if (image.channels != 1 && image.channels != 3) {
        fail(path, fmt::format("PFM holds 1 or 3 channels, not {}", image.channels));
    }
    const std::string header =
        fmt::format("P{}\n{} {}\n{}\n", image.channels == 1 ? 'f' : 'F', image.width, image.height,
                    host_is_little ? "-1.0" : "1.0");
    Bytes out(header.begin(), header.end());
    for (int64_t y = image.height; y-- > 0;) {
        out.insert(out.end(), image.row(y), image.row(y) + image.row_bytes());
    }
    return out;
}

}  // namespace Pipe::image_io
