// The integral image, and the box blur that is computed from it.
#include "apps/practice/loops.h"

namespace practice {
namespace {

using namespace Pipe;

Program integral_image() {
    ImageParam in(UInt(8), 2, "in");
    Var x("x"), y("y");
    RDom rx(1, in.width() - 1, "rx"), ry(1, in.height() - 1, "ry");
    Func rows("rows"), out("integral");
    rows(x, y) = cast<int>(in(x, y));
    rows(rx, y) += rows(rx - 1, y);
    out(x, y) = rows(x, y);
    out(x, ry) += out(x, ry - 1);
    return {{in}, out};
}

// Each strip of rows is summed in one pass; then what lies above it is added.
void integral_image_loops(const Arrays &arrays, Size size) {
    const uint8_t *in = arrays.in<uint8_t>(0);
    int *out = arrays.out<int>();
    constexpr ptrdiff_t strip = 32;
    const ptrdiff_t width = size.width, height = size.height;
#pragma omp parallel for
    for (ptrdiff_t top = 0; top < height; top += strip) {
        for (ptrdiff_t y = top; y < std::min(top + strip, height); ++y) {
            int sum = 0;
            for (ptrdiff_t x = 0; x < width; ++x)
                out[y * width + x] = sum += in[y * width + x];
            if (y > top) {
                for (ptrdiff_t x = 0; x < width; ++x)
                    out[y * width + x] += out[(y - 1) * width + x];
            }
        }
    }
    for (ptrdiff_t top = strip; top < height; top += strip) {
        const ptrdiff_t last = std::min(top + strip, height) - 1;
        for (ptrdiff_t x = 0; x < width; ++x)
            out[last * width + x] += out[(top - 1) * width + x];
    }
#pragma omp parallel for
    for (ptrdiff_t top = strip; top < height; top += strip) {
        for (ptrdiff_t y = top; y < std::min(top + strip, height) - 1; ++y) {
            for (ptrdiff_t x = 0; x < width; ++x)
                out[y * width + x] += out[(top - 1) * width + x];
        }
    }
}

constexpr int radius = 15, side = 2 * radius + 1;

// The table has a row and a column of zeros in front.
Program box_blur() {
    ImageParam in(UInt(8), 2, "in");
    Var x("x"), y("y");
    RDom rx(1, in.width(), "rx"), ry(1, in.height(), "ry");
    Func rows("rows"), table("table"), out("box_blur");
    rows(x, y) = 0;
    rows(rx, y) = rows(rx - 1, y) + in(rx - 1, y);
    table(x, y) = 0;
    table(x, ry) = table(x, ry - 1) + rows(x, ry - 1);
    const Expr total =
        table(x + side, y + side) - table(x, y + side) - table(x + side, y) + table(x, y);
    out(x, y) = cast<uint8_t>((total + side * side / 2) / (side * side));
    return {{in}, out};
}

// No table: sums of columns that slide down a strip of rows, and one that slides along the row.
void box_blur_loops(const Arrays &arrays, Size size) {
    const uint8_t *in = arrays.in<uint8_t>(0);
    uint8_t *out = arrays.out<uint8_t>();
    constexpr ptrdiff_t strip = 128;
    const ptrdiff_t width = size.width, height = size.height, padded = width + 2 * radius;
#pragma omp parallel
    {
        std::vector<int> columns(static_cast<size_t>(padded)), sums(static_cast<size_t>(width));
#pragma omp for
        for (ptrdiff_t top = 0; top < height; top += strip) {
            std::fill(columns.begin(), columns.end(), 0);
            for (ptrdiff_t y = top; y < top + side - 1; ++y) {
                for (ptrdiff_t x = 0; x < padded; ++x)
                    columns[size_t(x)] += in[y * padded + x];
            }
            for (ptrdiff_t y = top; y < std::min(top + strip, height); ++y) {
                for (ptrdiff_t x = 0; x < padded; ++x)
                    columns[size_t(x)] += in[(y + side - 1) * padded + x];
                int sum = 0;
                for (int x = 0; x < side - 1; ++x)
                    sum += columns[size_t(x)];
                for (ptrdiff_t x = 0; x < width; ++x) {
                    sum += columns[size_t(x + side - 1)];
                    sums[size_t(x)] = sum;
                    sum -= columns[size_t(x)];
                }
                for (ptrdiff_t x = 0; x < width; ++x)
                    out[y * width + x] =
                        uint8_t((sums[size_t(x)] + side * side / 2) / (side * side));
                for (ptrdiff_t x = 0; x < padded; ++x)
                    columns[size_t(x)] -= in[y * padded + x];
            }
        }
    }
}

}  // namespace

std::vector<Practice> box_practices() {
    return {{.name = "integral_image",
             .title = "integral image, uint8 to int32",
             .make = integral_image,
             .loops = integral_image_loops,
             .inputs = {{apps::plane, byte_value}},
             .output = apps::plane,
             .size = {4096, 3072},
             .small = apps::awkward_sizes()},
            {.name = "box_blur",
             .title = "box blur 31×31 by an integral image, uint8",
             .make = box_blur,
             .loops = box_blur_loops,
             .inputs = {{padded<radius>, byte_value}},
             .output = apps::plane,
             .size = {2048, 1536},
             .small = apps::awkward_sizes()}};
}

}  // namespace practice
