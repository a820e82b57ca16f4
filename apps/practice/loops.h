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

/// c[i][j] = sum over k of a[i][k] * b[k][j], for one block of c that fits the registers. Rows are
/// `.._stride` elements apart.
inline void product_block(ptrdiff_t rows, ptrdiff_t columns, ptrdiff_t depth, const float *a,
                          ptrdiff_t a_stride, const float *b, ptrdiff_t b_stride, float *c,
                          ptrdiff_t c_stride) {
    constexpr int R = 4, C = 32;
    if (rows == R && columns == C) {
        float sum[R][C] = {};
        for (ptrdiff_t k = 0; k < depth; ++k) {
            for (int i = 0; i < R; ++i) {
#pragma omp simd
                for (int j = 0; j < C; ++j)
                    sum[i][j] += a[i * a_stride + k] * b[k * b_stride + j];
            }
        }
        for (int i = 0; i < R; ++i)
            std::copy(sum[i], sum[i] + C, c + i * c_stride);
        return;
    }
    for (ptrdiff_t i = 0; i < rows; ++i) {
        std::fill(c + i * c_stride, c + i * c_stride + columns, 0.f);
        for (ptrdiff_t k = 0; k < depth; ++k) {
            for (ptrdiff_t j = 0; j < columns; ++j)
                c[i * c_stride + j] += a[i * a_stride + k] * b[k * b_stride + j];
        }
    }
}

/// The same for matrices of any size that fit the caches.
inline void product(ptrdiff_t rows, ptrdiff_t columns, ptrdiff_t depth, const float *a,
                    ptrdiff_t a_stride, const float *b, ptrdiff_t b_stride, float *c,
                    ptrdiff_t c_stride) {
    constexpr ptrdiff_t R = 4, C = 32;
    for (ptrdiff_t j = 0; j < columns; j += C) {
        for (ptrdiff_t i = 0; i < rows; i += R)
            product_block(std::min(R, rows - i), std::min(C, columns - j), depth, a + i * a_stride,
                          a_stride, b + j, b_stride, c + i * c_stride + j, c_stride);
    }
}

}  // namespace practice
