// PNG with libpng. The library reports errors by longjmp, so the functions that it jumps back into
// hold no objects with destructors; those live in their callers.

#include "image_io/codec.h"

#include <bit>
#include <csetjmp>
#include <cstring>

#include <png.h>

namespace Pipe::image_io {

namespace {

constexpr size_t message_size = 200;

struct PngReader {
    png_structp png = nullptr;
    png_infop info = nullptr;
    const uint8_t *at = nullptr;
    size_t left = 0;
    int passes = 0;
    char message[message_size] = "not enough memory";

    ~PngReader() { png_destroy_read_struct(&png, &info, nullptr); }
};

struct PngWriter {
    png_structp png = nullptr;
    png_infop info = nullptr;
    Bytes out;
    char message[message_size] = "not enough memory";

    ~PngWriter() { png_destroy_write_struct(&png, &info); }
};

template <typename State> void on_error(png_structp png, png_const_charp text) {
    char *message = static_cast<State *>(png_get_error_ptr(png))->message;
    std::strncpy(message, text, message_size - 1);
    message[message_size - 1] = '\0';
    png_longjmp(png, 1);
}

void ignore_warning(png_structp, png_const_charp) {}

void read_bytes(png_structp png, png_bytep to, size_t count) {
    PngReader &reader = *static_cast<PngReader *>(png_get_io_ptr(png));
    if (count > reader.left) {
        png_error(png, "the file is truncated");
    }
    std::memcpy(to, reader.at, count);
    reader.at += count;
    reader.left -= count;
}

void write_bytes(png_structp png, png_bytep from, size_t count) {
    Bytes &out = static_cast<PngWriter *>(png_get_io_ptr(png))->out;
    out.insert(out.end(), from, from + count);
}

void flush_nothing(png_structp) {}

// Reads the header and requests plain gray or RGB samples, with alpha if present.
bool read_header(PngReader &r, Pixels &image) {
    if (setjmp(png_jmpbuf(r.png)) != 0) {
        return false;
    }
    png_read_info(r.png, r.info);
    png_set_expand(r.png);
    if constexpr (std::endian::native == std::endian::little) {
        png_set_swap(r.png);
    }
    r.passes = png_set_interlace_handling(r.png);
    png_read_update_info(r.png, r.info);
    image.width = png_get_image_width(r.png, r.info);
    image.height = png_get_image_height(r.png, r.info);
    image.channels = png_get_channels(r.png, r.info);
    image.bits = png_get_bit_depth(r.png, r.info);
    return true;
}

bool read_rows(PngReader &r, Pixels &image) {
    if (setjmp(png_jmpbuf(r.png)) != 0) {
        return false;
    }
    for (int pass = 0; pass < r.passes; pass++) {
        for (int64_t y = 0; y < image.height; y++) {
            png_read_row(r.png, image.row(y), nullptr);
        }
    }
    png_read_end(r.png, nullptr);
    return true;
}

bool write_all(PngWriter &w, const Pixels &image) {
    if (setjmp(png_jmpbuf(w.png)) != 0) {
        return false;
    }
    constexpr int color_types[] = {PNG_COLOR_TYPE_GRAY, PNG_COLOR_TYPE_GRAY_ALPHA,
                                   PNG_COLOR_TYPE_RGB, PNG_COLOR_TYPE_RGB_ALPHA};
    png_set_IHDR(w.png, w.info, static_cast<png_uint_32>(image.width),
                 static_cast<png_uint_32>(image.height), image.bits,
                 color_types[image.channels - 1], PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT,
                 PNG_FILTER_TYPE_DEFAULT);
    png_set_compression_level(w.png,
                              3);  // a few percent larger than the default, three times as fast
    png_write_info(w.png, w.info);
    if constexpr (std::endian::native == std::endian::little) {
        png_set_swap(w.png);
    }
    for (int64_t y = 0; y < image.height; y++) {
        png_write_row(w.png, image.row(y));
    }
    png_write_end(w.png, nullptr);
    return true;
}

}  // namespace

Pixels decode_png(const Bytes &file, const std::string &path) {
    PngReader r;
    r.at = file.data();
    r.left = file.size();
    r.png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &r, on_error<PngReader>, ignore_warning);
    r.info = r.png == nullptr ? nullptr : png_create_info_struct(r.png);
    if (r.info == nullptr) {
        fail(path, r.message);
    }
    png_set_read_fn(r.png, &r, read_bytes);
    Pixels image;
    if (!read_header(r, image)) {
        fail(path, std::string("damaged PNG: ") + r.message);
    }
    image.allocate();
    if (!read_rows(r, image)) {
        fail(path, std::string("damaged PNG: ") + r.message);
    }
    return image;
}

Bytes encode_png(const Pixels &image, const std::string &path) {
    PngWriter w;
    w.png = png_create_write_struct(PNG_LIBPNG_VER_STRING, &w, on_error<PngWriter>, ignore_warning);
    w.info = w.png == nullptr ? nullptr : png_create_info_struct(w.png);
    if (w.info == nullptr) {
        fail(path, w.message);
    }
    png_set_write_fn(w.png, &w, write_bytes, flush_nothing);
    if (!write_all(w, image)) {
        fail(path, std::string("PNG cannot be written: ") + w.message);
    }
    return std::move(w.out);
}

}  // namespace Pipe::image_io
