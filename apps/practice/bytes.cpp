// Pictures of bytes: interleaved RGB in and out, and a filter that computes in uint8 throughout.
#include "apps/practice/loops.h"

namespace practice {
namespace {

using namespace Pipe;

constexpr int matrix[3][3] = {{345, -66, -23}, {-41, 330, -33}, {-11, -80, 347}};  // in 1/256

Program color_matrix() {
    ImageParam in(UInt(8), 3, "in");
    Var x("x"), y("y"), c("c");
    auto row = [&](int i) {
        Expr sum = 128;
        for (int k = 0; k < 3; ++k)
            sum += matrix[i][k] * cast<int>(in(x, y, k));
        return cast<uint8_t>(clamp(sum >> 8, 0, 255));
    };
    Func out("color_matrix");
    out(x, y, c) = mux(c, {row(0), row(1), row(2)});
    for (OutputImageParam picture : {OutputImageParam(in), out.output_buffer()}) {
        picture.dim(0).set_stride(3);
        picture.dim(2).set_stride(1).set_bounds(0, 3);
    }
    return {{in}, out};
}

void color_matrix_loops(const Arrays &arrays, Size size) {
    const uint8_t *in = arrays.in<uint8_t>(0);
    uint8_t *out = arrays.out<uint8_t>();
    const ptrdiff_t pixels = ptrdiff_t(size.width) * size.height;
#pragma omp parallel for simd
    for (ptrdiff_t i = 0; i < pixels; ++i) {
        const int r = in[3 * i], g = in[3 * i + 1], b = in[3 * i + 2];
        for (int c = 0; c < 3; ++c) {
            const int sum = 128 + matrix[c][0] * r + matrix[c][1] * g + matrix[c][2] * b;
            out[3 * i + c] = uint8_t(std::clamp(sum >> 8, 0, 255));
        }
    }
}

// The morphological gradient: the largest minus the smallest of 5×5 pixels.
Program morphology() {
    ImageParam in(UInt(8), 2, "in");
    Var x("x"), y("y");
    RDom r(0, 5, "r");
    Func wide_max("wide_max"), wide_min("wide_min"), out("morphology");
    wide_max(x, y) = maximum(in(x + r, y));
    wide_min(x, y) = minimum(in(x + r, y));
    out(x, y) = maximum(wide_max(x, y + r)) - minimum(wide_min(x, y + r));
    return {{in}, out};
}

/// The largest and the smallest of five bytes that are `distance` apart.
inline uint8_t largest(const uint8_t *p, ptrdiff_t distance) {
    const uint8_t a = std::max(p[0], p[distance]), b = std::max(p[2 * distance], p[3 * distance]);
    return std::max(std::max(a, b), p[4 * distance]);
}
inline uint8_t smallest(const uint8_t *p, ptrdiff_t distance) {
    const uint8_t a = std::min(p[0], p[distance]), b = std::min(p[2 * distance], p[3 * distance]);
    return std::min(std::min(a, b), p[4 * distance]);
}

// The extremes of the columns of a row stay in the cache.
void morphology_loops(const Arrays &arrays, Size size) {
    const uint8_t *in = arrays.in<uint8_t>(0);
    uint8_t *out = arrays.out<uint8_t>();
    const ptrdiff_t width = size.width, padded = width + 4;
#pragma omp parallel
    {
        std::vector<uint8_t> highest(static_cast<size_t>(padded)),
            lowest(static_cast<size_t>(padded));
        uint8_t *high = highest.data(), *low = lowest.data();
#pragma omp for
        for (int y = 0; y < size.height; ++y) {
            const uint8_t *from = in + y * padded;
            uint8_t *to = out + y * width;
#pragma omp simd
            for (ptrdiff_t x = 0; x < padded; ++x) {
                high[x] = largest(from + x, padded);
                low[x] = smallest(from + x, padded);
            }
#pragma omp simd
            for (ptrdiff_t x = 0; x < width; ++x)
                to[x] = uint8_t(largest(high + x, 1) - smallest(low + x, 1));
        }
    }
}

}  // namespace

std::vector<Practice> bytes_practices() {
    return {{.name = "color_matrix",
             .title = "color matrix, interleaved RGB in and out, uint8",
             .make = color_matrix,
             .loops = color_matrix_loops,
             .inputs = {{apps::planes, byte_value, true}},
             .output = apps::planes,
             .interleaved_output = true,
             .size = {3840, 2160},
             .small = apps::awkward_sizes()},
            {.name = "morphology",
             .title = "morphological gradient 5×5, uint8 throughout",
             .make = morphology,
             .loops = morphology_loops,
             .inputs = {{padded<2>, byte_value}},
             .output = apps::plane,
             .size = {3840, 2160},
             .small = apps::awkward_sizes()}};
}

}  // namespace practice
