// What several files share: input values, shapes, and the register-blocked product of matrices that the
// loops of every kind of product are built on.
#pragma once

#include "apps/common/inputs.h"
#include "apps/practice/practice.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

namespace practice {

/// In -0.5 .. 0.5.
inline double signed_value(const Point &p, Size) {
    return apps::u12(p[0], p[1], p[2] + 7 * p[3]) / 4096.0 - 0.5;
}
/// In 0 .. 1.
inline double unit_value(const Point &p, Size) {
    return apps::u12(p[0], p[1], p[2]) / 4096.0;
}
/// 0 .. 255.
inline double byte_value(const Point &p, Size) {
    return apps::u8(p[0], p[1], p[2]);
}

/// The picture that surrounds an output of this size by `border` pixels at each side, at 0, 0.
template <int border> Box padded(Size s) {
    return {{0, s.width + 2 * border}, {0, s.height + 2 * border}};
}

/// Bytes of the widest vectors that the loops are compiled for: GCC takes wider ones apart, and then keeps them in
/// memory.
#if defined(__AVX512F__)
constexpr int vector_bytes = 64;
#elif defined(__AVX__)
constexpr int vector_bytes = 32;
#else
constexpr int vector_bytes = 16;
#endif

/// A vector of the compiler's, at any address.
using Floats [[gnu::vector_size(vector_bytes), gnu::aligned(4), gnu::may_alias]] = float;

constexpr ptrdiff_t block_columns = 2 * vector_bytes / ptrdiff_t(sizeof(float));

/// c[i][j] = sum over k of a[i][k] * b[k][j], for one block of 4 rows and block_columns of c, whose sums stay in
/// registers. Rows are `.._stride` elements apart.
inline void product_block(ptrdiff_t depth, const float *a, ptrdiff_t a_stride, const float *b,
                          ptrdiff_t b_stride, float *c, ptrdiff_t c_stride) {
    Floats sum[4][2] = {};
    for (ptrdiff_t k = 0; k < depth; ++k) {
        const Floats *row = reinterpret_cast<const Floats *>(b + k * b_stride);
        const Floats left = row[0], right = row[1];
#pragma GCC unroll 4
        for (int i = 0; i < 4; ++i) {
            sum[i][0] += a[i * a_stride + k] * left;
            sum[i][1] += a[i * a_stride + k] * right;
        }
    }
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) {
        Floats *row = reinterpret_cast<Floats *>(c + i * c_stride);
        row[0] = sum[i][0];
        row[1] = sum[i][1];
    }
}

/// The same for matrices of any size that fit the caches.
inline void product(ptrdiff_t rows, ptrdiff_t columns, ptrdiff_t depth, const float *a,
                    ptrdiff_t a_stride, const float *b, ptrdiff_t b_stride, float *c,
                    ptrdiff_t c_stride) {
    for (ptrdiff_t j = 0; j < columns; j += block_columns) {
        for (ptrdiff_t i = 0; i < rows; i += 4) {
            const float *from = a + i * a_stride;
            float *to = c + i * c_stride + j;
            if (i + 4 <= rows && j + block_columns <= columns) {
                product_block(depth, from, a_stride, b + j, b_stride, to, c_stride);
                continue;
            }
            for (ptrdiff_t r = 0; r < std::min<ptrdiff_t>(4, rows - i); ++r) {
                for (ptrdiff_t s = 0; s < std::min(block_columns, columns - j); ++s) {
                    float sum = 0;
                    for (ptrdiff_t k = 0; k < depth; ++k)
                        sum += from[r * a_stride + k] * b[k * b_stride + j + s];
                    to[r * c_stride + s] = sum;
                }
            }
        }
    }
}

}  // namespace practice
