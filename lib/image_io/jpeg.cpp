// JPEG with libjpeg. The library reports errors by longjmp, so the functions that it jumps back
// into hold no objects with destructors; those live in their callers.

#include "image_io/codec.h"

#include <csetjmp>
#include <cstdio>
#include <cstdlib>

#include <jpeglib.h>

#include <jerror.h>

namespace Pipe::image_io {

namespace {

constexpr int quality = 95;

struct Errors {
    jpeg_error_mgr manager;
    std::jmp_buf back;
    char message[JMSG_LENGTH_MAX] = "";
};

[[noreturn]] void on_error(j_common_ptr jpeg) {
    Errors &errors = *reinterpret_cast<Errors *>(jpeg->err);
    jpeg->err->format_message(jpeg, errors.message);
    std::longjmp(errors.back, 1);
}

// libjpeg fills missing data with gray and only warns; we treat such a file as damaged.
void on_message(j_common_ptr jpeg, int level) {
    const int code = jpeg->err->msg_code;
    if (level < 0 && (code == JWRN_JPEG_EOF || code == JWRN_HIT_MARKER)) {
        on_error(jpeg);
    }
}

void set_up(Errors &errors) {
    jpeg_std_error(&errors.manager);
    errors.manager.error_exit = on_error;
    errors.manager.emit_message = on_message;
    errors.manager.output_message = [](j_common_ptr) {};
}

struct JpegReader {
    jpeg_decompress_struct jpeg = {};
    Errors errors;

    ~JpegReader() { jpeg_destroy_decompress(&jpeg); }
};

struct JpegWriter {
    jpeg_compress_struct jpeg = {};
    Errors errors;
    unsigned char *out = nullptr;  // allocated by libjpeg with malloc
    unsigned long size = 0;

    ~JpegWriter() {
        jpeg_destroy_compress(&jpeg);
        std::free(out);
    }
};

bool read_header(JpegReader &r, const Bytes &file, Pixels &image) {
    if (setjmp(r.errors.back) != 0) {
        return false;
    }
    jpeg_create_decompress(&r.jpeg);
    jpeg_mem_src(&r.jpeg, file.data(), file.size());
    jpeg_read_header(&r.jpeg, TRUE);
    r.jpeg.out_color_space = r.jpeg.num_components == 1 ? JCS_GRAYSCALE : JCS_RGB;
    jpeg_start_decompress(&r.jpeg);
    image.width = r.jpeg.output_width;
    image.height = r.jpeg.output_height;
    image.channels = r.jpeg.output_components;
    return true;
}

bool read_rows(JpegReader &r, Pixels &image) {
    if (setjmp(r.errors.back) != 0) {
        return false;
    }
    while (r.jpeg.output_scanline < r.jpeg.output_height) {
        JSAMPROW row = image.row(r.jpeg.output_scanline);
        jpeg_read_scanlines(&r.jpeg, &row, 1);
    }
    jpeg_finish_decompress(&r.jpeg);
    return true;
}

bool write_all(JpegWriter &w, const Pixels &image) {
    if (setjmp(w.errors.back) != 0) {
        return false;
    }
    jpeg_create_compress(&w.jpeg);
    jpeg_mem_dest(&w.jpeg, &w.out, &w.size);
    w.jpeg.image_width = static_cast<JDIMENSION>(image.width);
    w.jpeg.image_height = static_cast<JDIMENSION>(image.height);
    w.jpeg.input_components = image.channels;
    w.jpeg.in_color_space = image.channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
    jpeg_set_defaults(&w.jpeg);
    jpeg_set_quality(&w.jpeg, quality, TRUE);
    jpeg_start_compress(&w.jpeg, TRUE);
    while (w.jpeg.next_scanline < w.jpeg.image_height) {
        JSAMPROW row = const_cast<JSAMPROW>(image.row(w.jpeg.next_scanline));
        jpeg_write_scanlines(&w.jpeg, &row, 1);
    }
    jpeg_finish_compress(&w.jpeg);
    return true;
}

}  // namespace

Pixels decode_jpeg(const Bytes &file, const std::string &path) {
    JpegReader r;
    set_up(r.errors);
    r.jpeg.err = &r.errors.manager;
    Pixels image;
    if (!read_header(r, file, image)) {
        fail(path, std::string("damaged or unsupported JPEG: ") + r.errors.message);
    }
    image.allocate();
    if (!read_rows(r, image)) {
        fail(path, std::string("damaged or truncated JPEG: ") + r.errors.message);
    }
    return image;
}

Bytes encode_jpeg(const Pixels &image, const std::string &path) {
    if (image.channels != 1 && image.channels != 3) {
        fail(path, "JPEG holds 1 or 3 channels, not " + std::to_string(image.channels));
    }
    JpegWriter w;
    set_up(w.errors);
    w.jpeg.err = &w.errors.manager;
    if (!write_all(w, image)) {
        fail(path, std::string("JPEG cannot be written: ") + w.errors.message);
    }
    return Bytes(w.out, w.out + w.size);
}

}  // namespace Pipe::image_io
