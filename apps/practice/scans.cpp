// Transposition, and the sums of all prefixes of a sequence.
#include "apps/practice/loops.h"

namespace practice {
namespace {

using namespace Pipe;

Program transpose() {
    ImageParam in(Float(32), 2, "in");
    Var x("x"), y("y");
    Func out("transpose");
    out(x, y) = in(y, x);
    return {{in}, out};
}

void transpose_loops(const Arrays &arrays, Size size) {
    const float *in = arrays.in<float>(0);
    float *out = arrays.out<float>();
    constexpr ptrdiff_t rows = 16, columns = 256;
    const ptrdiff_t width = size.width, height = size.height;
#pragma omp parallel for collapse(2)
    for (ptrdiff_t top = 0; top < height; top += rows) {
        for (ptrdiff_t left = 0; left < width; left += columns) {
            for (ptrdiff_t y = top; y < std::min(top + rows, height); ++y) {
                for (ptrdiff_t x = left; x < std::min(left + columns, width); ++x)
                    out[y * width + x] = in[x * height + y];
            }
        }
    }
}

Box transposed(Size s) {
    return {{0, s.height}, {0, s.width}};
}

Program prefix_sum() {
    ImageParam in(Int(32), 1, "in");
    Var x("x");
    RDom r(1, in.width() - 1, "r");
    Func out("prefix_sum");
    out(x) = in(x);
    out(r) += out(r - 1);
    return {{in}, out};
}

// The sum of each block, the sums before each block, then the sums within each block.
void prefix_sum_loops(const Arrays &arrays, Size size) {
    const int *in = arrays.in<int>(0);
    int *out = arrays.out<int>();
    constexpr ptrdiff_t block = 16384;
    const ptrdiff_t length = size.width, blocks = (length + block - 1) / block;
    std::vector<int> before(size_t(blocks) + 1);
#pragma omp parallel for
    for (ptrdiff_t b = 0; b < blocks; ++b) {
        int sum = 0;
        for (ptrdiff_t i = b * block; i < std::min((b + 1) * block, length); ++i)
            sum += in[i];
        before[size_t(b) + 1] = sum;
    }
    for (size_t b = 1; b < before.size(); ++b)
        before[b] += before[b - 1];
#pragma omp parallel for
    for (ptrdiff_t b = 0; b < blocks; ++b) {
        int sum = before[size_t(b)];
        for (ptrdiff_t i = b * block; i < std::min((b + 1) * block, length); ++i)
            out[i] = sum += in[i];
    }
}

Box sequence(Size s) {
    return {{0, s.width}};
}

}  // namespace

std::vector<Practice> scans_practices() {
    return {{.name = "transpose",
             .title = "transposition, float",
             .make = transpose,
             .loops = transpose_loops,
             .inputs = {{transposed, unit_value}},
             .output = apps::plane,
             .size = {4000, 3000},
             .small = apps::awkward_sizes()},
            {.name = "prefix_sum",
             .title = "prefix sums, int32",
             .make = prefix_sum,
             .loops = prefix_sum_loops,
             .inputs = {{sequence, byte_value}},
             .output = sequence,
             .size = {1 << 24, 1},
             .small = {{1, 1}, {2, 1}, {33, 1}, {40000, 1}}}};
}

}  // namespace practice
