// Products: of many small matrices, of a large matrix and a vector, and of matrices of bytes.
#include "apps/practice/loops.h"

namespace practice {
namespace {

using namespace Pipe;

Program batched_gemm() {
    ImageParam a(Float(32), 3, "a"), b(Float(32), 3, "b");
    Var i("i"), j("j"), n("n");
    RDom k(0, a.width(), "k");
    Func c("batched_gemm");
    c(j, i, n) += a(k, i, n) * b(j, k, n);
    return {{a, b}, c};
}

void batched_gemm_loops(const Arrays &arrays, Size size) {
    const float *a = arrays.in<float>(0), *b = arrays.in<float>(1);
    float *c = arrays.out<float>();
    const ptrdiff_t side = size.width, matrix = side * side;
#pragma omp parallel for
    for (int n = 0; n < size.height; ++n)
        product(side, side, side, a + n * matrix, side, b + n * matrix, side, c + n * matrix, side);
}

Box matrices(Size s) {
    return {{0, s.width}, {0, s.width}, {0, s.height}};
}

Program matrix_vector() {
    ImageParam matrix(Float(32), 2, "matrix"), vector(Float(32), 1, "vector");
    Var y("y");
    RDom k(0, matrix.width(), "k");
    Func out("matrix_vector");
    out(y) += matrix(k, y) * vector(k);
    return {{matrix, vector}, out};
}

void matrix_vector_loops(const Arrays &arrays, Size size) {
    const float *matrix = arrays.in<float>(0), *vector = arrays.in<float>(1);
    float *out = arrays.out<float>();
    const ptrdiff_t width = size.width;
#pragma omp parallel for
    for (int y = 0; y < size.height; ++y) {
        const float *row = matrix + y * width;
        float sum = 0;
        for (ptrdiff_t k = 0; k < width; ++k)
            sum += row[k] * vector[k];
        out[y] = sum;
    }
}

/// Of a quantized network: int8 (held as uint8), scaled and rounded to int8 again.
constexpr int factor = 77, bits = 18;

Program byte_product() {
    ImageParam a(UInt(8), 2, "a"), b(UInt(8), 2, "b");
    Var i("i"), j("j");
    RDom k(0, a.width(), "k");
    auto number = [](const Expr &e) { return cast<int>(cast<int8_t>(e)); };
    Func product("product"), out("byte_product");
    product(j, i) += number(a(k, i)) * number(b(j, k));
    const Expr rounded = (product(j, i) * factor + (1 << (bits - 1))) >> bits;
    out(j, i) = cast<uint8_t>(saturating_cast<int8_t>(rounded));
    return {{a, b}, out};
}

constexpr ptrdiff_t strip = 32;  ///< columns of b at a time

/// One row and 4 columns; along both operands, GCC adds up pairs of products.
inline void dot_products(ptrdiff_t depth, const int16_t *a, const int16_t *b, int *sums) {
    int s0 = 0, s1 = 0, s2 = 0, s3 = 0;
    for (ptrdiff_t k = 0; k < depth; ++k) {
        s0 += a[k] * b[k];
        s1 += a[k] * b[depth + k];
        s2 += a[k] * b[2 * depth + k];
        s3 += a[k] * b[3 * depth + k];
    }
    sums[0] = s0, sums[1] = s1, sums[2] = s2, sums[3] = s3;
}

// Strips of b are transposed and widened once; rows of a, once per strip.
void byte_product_loops(const Arrays &arrays, Size size) {
    const int8_t *a = reinterpret_cast<const int8_t *>(arrays.in<uint8_t>(0));
    const int8_t *b = reinterpret_cast<const int8_t *>(arrays.in<uint8_t>(1));
    uint8_t *out = arrays.out<uint8_t>();
    const ptrdiff_t n = size.width, depth = size.width, rows = size.height;
#pragma omp parallel
    {
        std::vector<int16_t> columns(size_t(strip * depth)), wide(size_t(depth), 0);
#pragma omp for
        for (ptrdiff_t j = 0; j < n; j += strip) {
            for (ptrdiff_t k = 0; k < depth; ++k)
                for (ptrdiff_t q = 0; q < std::min(strip, n - j); ++q)
                    columns[size_t(q * depth + k)] = b[k * n + j + q];
            for (ptrdiff_t i = 0; i < rows; ++i) {
                for (ptrdiff_t k = 0; k < depth; ++k)
                    wide[size_t(k)] = a[i * depth + k];
                for (ptrdiff_t q = 0; q < strip; q += 4) {
                    int sums[4];
                    dot_products(depth, wide.data(), columns.data() + q * depth, sums);
                    for (ptrdiff_t c = q; c < std::min(q + 4, n - j); ++c) {
                        const int rounded = (sums[c - q] * factor + (1 << (bits - 1))) >> bits;
                        out[i * n + j + c] = uint8_t(int8_t(std::clamp(rounded, -128, 127)));
                    }
                }
            }
        }
    }
}

Box row(Size s) {
    return {{0, s.width}};
}
Box column(Size s) {
    return {{0, s.height}};
}
Box square(Size s) {
    return {{0, s.width}, {0, s.width}};
}
double other_byte(const Point &p, Size) {
    return apps::u8(p[0], p[1], 5);
}

}  // namespace

std::vector<Practice> products_practices() {
    return {{.name = "batched_gemm",
             .title = "products of small matrices (side × number)",
             .make = batched_gemm,
             .loops = batched_gemm_loops,
             .inputs = {{matrices, signed_value}, {matrices, unit_value}},
             .output = matrices,
             .tolerance = 1e-5,
             .size = {32, 2048},
             .small = {{1, 1}, {7, 5}, {33, 3}, {32, 2}}},
            {.name = "matrix_vector",
             .title = "matrix × vector",
             .make = matrix_vector,
             .loops = matrix_vector_loops,
             .inputs = {{apps::plane, signed_value}, {row, unit_value}},
             .output = column,
             .tolerance = 1e-5,
             .size = {4096, 4096},
             .small = {{1, 1}, {7, 5}, {33, 3}, {130, 129}}},
            {.name = "byte_product",
             .title = "matrix × matrix, int8 to int32, rounded to int8",
             .make = byte_product,
             .loops = byte_product_loops,
             .inputs = {{apps::plane, byte_value}, {square, other_byte}},
             .output = apps::plane,
             .size = {512, 512},
             .small = {{1, 1}, {7, 5}, {33, 3}, {130, 129}}}};
}

}  // namespace practice
