// Filters of signals: a bank of FIR filters, and a recursive (IIR) filter along both axes of a picture.
#include "apps/practice/loops.h"

namespace practice {
namespace {

using namespace Pipe;

constexpr int taps = 64;

Program fir_bank() {
    ImageParam in(Float(32), 1, "in"), filters(Float(32), 2, "filters");
    Var t("t"), f("f");
    RDom k(0, taps, "k");
    Func out("fir_bank");
    out(t, f) += filters(k, f) * in(t + k);
    return {{in, filters}, out};
}

// A product of matrices: the rows of the second one are the signal, each a sample later.
void fir_bank_loops(const Arrays &arrays, Size size) {
    const float *in = arrays.in<float>(0), *filters = arrays.in<float>(1);
    float *out = arrays.out<float>();
    constexpr ptrdiff_t block = 1024;
    const ptrdiff_t length = size.width;
#pragma omp parallel for
    for (ptrdiff_t t = 0; t < length; t += block)
        product(size.height, std::min(block, length - t), taps, filters, taps, in + t, 1, out + t,
                length);
}

Box signal(Size s) {
    return {{0, s.width + taps - 1}};
}
Box filter_taps(Size s) {
    return {{0, taps}, {0, s.height}};
}

constexpr float alpha = 0.25f;

// Forth and back along each row, then along each column.
Program recursive() {
    ImageParam in(Float(32), 2, "in");
    Var x("x"), y("y");
    const Expr width = in.width(), height = in.height();
    RDom rx(1, width - 1, "rx"), ry(1, height - 1, "ry");
    Func rows("rows"), out("recursive");
    rows(x, y) = in(x, y);
    rows(rx, y) = alpha * rows(rx, y) + (1 - alpha) * rows(rx - 1, y);
    rows(width - 1 - rx, y) = alpha * rows(width - 1 - rx, y) + (1 - alpha) * rows(width - rx, y);
    out(x, y) = rows(x, y);
    out(x, ry) = alpha * out(x, ry) + (1 - alpha) * out(x, ry - 1);
    out(x, height - 1 - ry) = alpha * out(x, height - 1 - ry) + (1 - alpha) * out(x, height - ry);
    return {{in}, out};
}

/// One row of 16 recurrences that are side by side.
inline void recurrence(float *to, const float *before) {
#pragma omp simd
    for (int i = 0; i < 16; ++i)
        to[i] = alpha * to[i] + (1 - alpha) * before[i];
}

// Rows: a single recurrence waits for its latency, so that 16 rows are transposed and done together.
void recursive_rows(const float *in, float *out, Size size) {
    const ptrdiff_t width = size.width;
#pragma omp parallel
    {
        std::vector<float> lanes(size_t(width) * 16);
#pragma omp for
        for (int y = 0; y < size.height; y += 16) {
            const int rows = std::min(16, size.height - y);
            for (ptrdiff_t x = 0; x < width; ++x) {
                for (int i = 0; i < rows; ++i)
                    lanes[size_t(x * 16 + i)] = in[(y + i) * width + x];
            }
            for (ptrdiff_t x = 1; x < width; ++x)
                recurrence(&lanes[size_t(x) * 16], &lanes[size_t(x - 1) * 16]);
            for (ptrdiff_t x = width - 2; x >= 0; --x)
                recurrence(&lanes[size_t(x) * 16], &lanes[size_t(x + 1) * 16]);
            for (int i = 0; i < rows; ++i) {
                for (ptrdiff_t x = 0; x < width; ++x)
                    out[(y + i) * width + x] = lanes[size_t(x * 16 + i)];
            }
        }
    }
}

void recursive_loops(const Arrays &arrays, Size size) {
    float *out = arrays.out<float>();
    const ptrdiff_t width = size.width;
    recursive_rows(arrays.in<float>(0), out, size);
    constexpr ptrdiff_t block = 64;
#pragma omp parallel for
    for (ptrdiff_t left = 0; left < width; left += block) {
        const ptrdiff_t right = std::min(left + block, width);
        for (ptrdiff_t y = 1; y < size.height; ++y) {
            float *to = out + y * width;
            for (ptrdiff_t x = left; x < right; ++x)
                to[x] = alpha * to[x] + (1 - alpha) * to[x - width];
        }
        for (ptrdiff_t y = size.height - 2; y >= 0; --y) {
            float *to = out + y * width;
            for (ptrdiff_t x = left; x < right; ++x)
                to[x] = alpha * to[x] + (1 - alpha) * to[x + width];
        }
    }
}

}  // namespace

std::vector<Practice> filters_practices() {
    return {{.name = "fir_bank",
             .title = "bank of FIR filters of 64 taps (samples × filters)",
             .make = fir_bank,
             .loops = fir_bank_loops,
             .inputs = {{signal, signed_value}, {filter_taps, signed_value}},
             .output = apps::plane,
             .tolerance = 1e-5,
             .size = {65536, 32},
             .small = {{1, 1}, {7, 5}, {333, 3}}},
            {.name = "recursive",
             .title = "recursive filter along both axes, forth and back",
             .make = recursive,
             .loops = recursive_loops,
             .inputs = {{apps::plane, unit_value}},
             .output = apps::plane,
             .tolerance = 1e-5,
             .size = {2048, 1536},
             .small = apps::awkward_sizes()}};
}

}  // namespace practice
