// Products of many small matrices, and of a large matrix and a vector.
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

Box row(Size s) {
    return {{0, s.width}};
}
Box column(Size s) {
    return {{0, s.height}};
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
             .small = {{1, 1}, {7, 5}, {33, 3}, {130, 129}}}};
}

}  // namespace practice
