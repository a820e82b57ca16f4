// Edges: gradients of bytes, and of floats with non-maximum suppression.
#include "apps/practice/loops.h"

namespace practice {
namespace {

using namespace Pipe;

/// The gradients of Sobel at the middle of 3×3 points, in the type of `at`.
template <typename At> auto gradients(const At &at) {
    const auto gx = at(2, 0) - at(0, 0) + 2 * (at(2, 1) - at(0, 1)) + (at(2, 2) - at(0, 2));
    const auto gy = at(0, 2) - at(0, 0) + 2 * (at(1, 2) - at(1, 0)) + (at(2, 2) - at(2, 0));
    return std::pair(gx, gy);
}

Program sobel() {
    ImageParam in(UInt(8), 2, "in");
    Var x("x"), y("y");
    Func wide("wide"), out("sobel");
    wide(x, y) = cast<int16_t>(in(x, y));
    const auto [gx, gy] = gradients([&](int i, int j) -> Expr { return wide(x + i, y + j); });
    out(x, y) = cast<uint8_t>(min(abs(gx) + abs(gy), 255));
    return {{in}, out};
}

void sobel_loops(const Arrays &arrays, Size size) {
    const uint8_t *in = arrays.in<uint8_t>(0);
    uint8_t *out = arrays.out<uint8_t>();
    const ptrdiff_t width = size.width, padded = width + 2;
#pragma omp parallel for
    for (int y = 0; y < size.height; ++y) {
        const uint8_t *a = in + y * padded, *b = a + padded, *c = b + padded;
        uint8_t *to = out + y * width;
        // Cut to 16 bits at once: else GCC computes in vectors of 32.
#pragma omp simd
        for (ptrdiff_t x = 0; x < width; ++x) {
            const int16_t gx = int16_t(a[x + 2] - a[x] + 2 * (b[x + 2] - b[x]) + c[x + 2] - c[x]);
            const int16_t gy =
                int16_t(c[x] - a[x] + 2 * (c[x + 1] - a[x + 1]) + c[x + 2] - a[x + 2]);
            const int16_t sum =
                int16_t((gx < 0 ? int16_t(-gx) : gx) + (gy < 0 ? int16_t(-gy) : gy));
            to[x] = uint8_t(sum > 255 ? 255 : sum);
        }
    }
}

/// In 0 .. 1, in steps so large that squares of gradients are exact: equal magnitudes are equal in every order of
/// operations.
double coarse_value(const Point &p, Size) {
    return (apps::u12(p[0], p[1], 0) >> 6) / 64.0;
}

constexpr float flat = 0.4142f;  // tangent of 22.5 degrees

Program edges() {
    ImageParam in(Float(32), 2, "in");
    Var x("x"), y("y");
    Func gx("gx"), gy("gy"), magnitude("magnitude"), out("edges");
    const auto [dx, dy] = gradients([&](int i, int j) -> Expr { return in(x + i, y + j); });
    gx(x, y) = dx;
    gy(x, y) = dy;
    magnitude(x, y) = sqrt(gx(x, y) * gx(x, y) + gy(x, y) * gy(x, y));
    // Larger than its neighbors along the gradient.
    auto at = [&](int i, int j) -> Expr { return magnitude(x + i, y + j); };
    const Expr u = gx(x + 1, y + 1), v = gy(x + 1, y + 1), here = at(1, 1);
    const Expr is_vertical = abs(v) < flat * abs(u), is_horizontal = abs(u) < flat * abs(v);
    const Expr before =
        select(is_vertical, at(0, 1), is_horizontal, at(1, 0), u * v > 0.0f, at(0, 0), at(2, 0));
    const Expr after =
        select(is_vertical, at(2, 1), is_horizontal, at(1, 2), u * v > 0.0f, at(2, 2), at(0, 2));
    out(x, y) = select(here >= before && here > after, here, 0.0f);
    return {{in}, out};
}

// A strip of rows at a time: its gradients stay in the cache.
void edges_loops(const Arrays &arrays, Size size) {
    const float *in = arrays.in<float>(0);
    float *out = arrays.out<float>();
    constexpr ptrdiff_t strip = 32;
    const ptrdiff_t width = size.width, height = size.height, wide = width + 2, padded = width + 4;
#pragma omp parallel
    {
        std::vector<float> gx(size_t(wide * (strip + 2))), gy(gx), magnitude(gx);
#pragma omp for
        for (ptrdiff_t top = 0; top < height; top += strip) {
            const ptrdiff_t rows = std::min(strip, height - top);
            for (ptrdiff_t y = 0; y < rows + 2; ++y) {
                const float *from = in + (top + y) * padded;
                float *u = &gx[size_t(y * wide)], *v = &gy[size_t(y * wide)],
                      *m = &magnitude[size_t(y * wide)];
#pragma omp simd
                for (ptrdiff_t x = 0; x < wide; ++x) {
                    const auto [dx, dy] =
                        gradients([&](int i, int j) { return from[x + i + j * padded]; });
                    u[x] = dx;
                    v[x] = dy;
                    m[x] = std::sqrt(dx * dx + dy * dy);
                }
            }
            for (ptrdiff_t y = 0; y < rows; ++y) {
                const float *above = &magnitude[size_t(y * wide)], *m = above + wide,
                            *below = m + wide;
                const float *us = &gx[size_t((y + 1) * wide + 1)],
                            *vs = &gy[size_t((y + 1) * wide + 1)];
                float *to = out + (top + y) * width;
#pragma omp simd
                for (ptrdiff_t x = 0; x < width; ++x) {
                    const float u = us[x], v = vs[x], here = m[x + 1];
                    const bool is_vertical = std::abs(v) < flat * std::abs(u),
                               is_horizontal = std::abs(u) < flat * std::abs(v);
                    const float before = is_vertical     ? m[x]
                                         : is_horizontal ? above[x + 1]
                                         : u * v > 0     ? above[x]
                                                         : above[x + 2];
                    const float after = is_vertical     ? m[x + 2]
                                        : is_horizontal ? below[x + 1]
                                        : u * v > 0     ? below[x + 2]
                                                        : below[x];
                    to[x] = here >= before && here > after ? here : 0.0f;
                }
            }
        }
    }
}

}  // namespace

std::vector<Practice> edges_practices() {
    return {{.name = "sobel",
             .title = "Sobel gradients, |gx| + |gy|, uint8",
             .make = sobel,
             .loops = sobel_loops,
             .inputs = {{padded<1>, byte_value}},
             .output = apps::plane,
             .size = {3840, 2160},
             .small = apps::awkward_sizes()},
            {.name = "edges",
             .title = "Sobel gradients, non-maximum suppression, float",
             .make = edges,
             .loops = edges_loops,
             .inputs = {{padded<2>, coarse_value}},
             .output = apps::plane,
             .tolerance = 1e-5,
             .size = {2048, 1536},
             .small = apps::awkward_sizes()}};
}

}  // namespace practice
