// One step of pyramidal Lucas-Kanade: the flow of the coarser level, refined in windows of 5×5 pixels.
#include "apps/practice/loops.h"

namespace practice {
namespace {

using namespace Pipe;

// Flow from the coarser level is at most 4 pixels. Borders: 2 for the window, 1 for the derivatives, 5
// for the flow.
constexpr int border_first = 3, border_second = 8;
constexpr float regular = 1e-3f;

/// Elements 0 to 4: ix², ix iy, iy², ix it, iy it.
Tuple products_at(const ImageParam &first, const ImageParam &second, const ImageParam &coarse,
                  const Var &x, const Var &y) {
    const Expr u = 2 * coarse(x / 2, y / 2, 0), v = 2 * coarse(x / 2, y / 2, 1);
    const Expr i = clamp(cast<int>(floor(u)), -5, 4), j = clamp(cast<int>(floor(v)), -5, 4);
    auto sample = [&](int b) {
        const Expr at = x + i + 6, row = y + j + 6 + b;
        return lerp(second(at, row), second(at + 1, row), u - i);
    };
    const Expr warped = lerp(sample(0), sample(1), v - j);
    const Expr ix = (first(x + 2, y + 1) - first(x, y + 1)) / 2;
    const Expr iy = (first(x + 1, y + 2) - first(x + 1, y)) / 2;
    const Expr it = warped - first(x + 1, y + 1);
    return {ix * ix, ix * iy, iy * iy, ix * it, iy * it};
}

/// f(at) + g, element by element.
Tuple plus(const Tuple &a, const Tuple &b) {
    return {a[0] + b[0], a[1] + b[1], a[2] + b[2], a[3] + b[3], a[4] + b[4]};
}

Program lucas_kanade() {
    ImageParam first(Float(32), 2, "first"), second(Float(32), 2, "second"),
        coarse(Float(32), 3, "coarse");
    Var x("x"), y("y"), c("c");
    RDom k(0, 5, "k");
    const Tuple zero{0.0f, 0.0f, 0.0f, 0.0f, 0.0f};
    Func products("products"), across("across"), window("window"), out("lucas_kanade");
    products(x, y) = products_at(first, second, coarse, x, y);
    across(x, y) = zero;
    across(x, y) = plus(across(x, y), products(x + k, y));
    window(x, y) = zero;
    window(x, y) = plus(window(x, y), across(x, y + k));
    const Tuple w = window(x, y);
    const Expr det = w[0] * w[2] - w[1] * w[1] + regular;
    const Expr step =
        mux(c, {(w[1] * w[4] - w[2] * w[3]) / det, (w[1] * w[3] - w[0] * w[4]) / det});
    out(x, y, c) = 2 * coarse((x + 2) / 2, (y + 2) / 2, c) + step;
    return {{first, second, coarse}, out};
}

/// The pictures, with the distance of their rows.
struct Pictures {
    const float *first, *second, *coarse;
    ptrdiff_t width, first_row, second_row, coarse_row, coarse_plane;
};

/// Row y of the five products, `row` elements each, one after the other.
void products_of_row(const Pictures &p, ptrdiff_t y, ptrdiff_t row, float *to) {
    const float *a = p.first + (y + 1) * p.first_row + 1;
    const float *u_row = p.coarse + y / 2 * p.coarse_row, *v_row = u_row + p.coarse_plane;
#pragma omp simd
    for (ptrdiff_t x = 0; x < row; ++x) {
        const float u = 2 * u_row[x / 2], v = 2 * v_row[x / 2];
        const int i = std::clamp(int(std::floor(u)), -5, 4);
        const int j = std::clamp(int(std::floor(v)), -5, 4);
        const float *b = p.second + (y + j + 6) * p.second_row + x + i + 6;
        const float s = u - float(i), t = v - float(j);
        const float upper = b[0] + s * (b[1] - b[0]);
        const float lower = b[p.second_row] + s * (b[p.second_row + 1] - b[p.second_row]);
        const float ix = (a[x + 1] - a[x - 1]) / 2;
        const float iy = (a[x + p.first_row] - a[x - p.first_row]) / 2;
        const float it = upper + t * (lower - upper) - a[x];
        to[x] = ix * ix;
        to[row + x] = ix * iy;
        to[2 * row + x] = iy * iy;
        to[3 * row + x] = ix * it;
        to[4 * row + x] = iy * it;
    }
}

/// Row y of the output from five rows of sums, each with five planes.
void solve_row(const Pictures &p, ptrdiff_t y, const float *sums, float *u_out, float *v_out) {
    const float *u_row = p.coarse + (y + 2) / 2 * p.coarse_row, *v_row = u_row + p.coarse_plane;
    const ptrdiff_t width = p.width;
#pragma omp simd
    for (ptrdiff_t x = 0; x < width; ++x) {
        float w[5] = {};
        for (int k = 0; k < 5; ++k) {
            for (int e = 0; e < 5; ++e)
                w[e] += sums[(k * 5 + e) * width + x];
        }
        const float scale = 1 / (w[0] * w[2] - w[1] * w[1] + regular);
        u_out[x] = 2 * u_row[(x + 2) / 2] + (w[1] * w[4] - w[2] * w[3]) * scale;
        v_out[x] = 2 * v_row[(x + 2) / 2] + (w[1] * w[3] - w[0] * w[4]) * scale;
    }
}

void lucas_kanade_loops(const Arrays &arrays, Size size) {
    float *out = arrays.out<float>();
    const ptrdiff_t width = size.width, height = size.height, row = width + 4;
    const ptrdiff_t coarse_row = (width + 5) / 2;
    const Pictures pictures{arrays.in<float>(0),
                            arrays.in<float>(1),
                            arrays.in<float>(2),
                            width,
                            width + 2 * border_first,
                            width + 2 * border_second,
                            coarse_row,
                            coarse_row * ((height + 5) / 2)};
    constexpr ptrdiff_t strip = 32;
#pragma omp parallel
    {
        std::vector<float> products(size_t(row) * 5), sums(size_t((strip + 4) * 5 * width));
#pragma omp for
        for (ptrdiff_t top = 0; top < height; top += strip) {
            const ptrdiff_t bottom = std::min(top + strip, height);
            for (ptrdiff_t y = top; y < bottom + 4; ++y) {
                products_of_row(pictures, y, row, products.data());
                for (ptrdiff_t e = 0; e < 5; ++e) {
                    const float *from = &products[size_t(e * row)];
                    float *to = &sums[size_t(((y - top) * 5 + e) * width)];
                    for (ptrdiff_t x = 0; x < width; ++x)
                        to[x] = from[x] + from[x + 1] + from[x + 2] + from[x + 3] + from[x + 4];
                }
            }
            for (ptrdiff_t y = top; y < bottom; ++y)
                solve_row(pictures, y, &sums[size_t((y - top) * 5 * width)], out + y * width,
                          out + (height + y) * width);
        }
    }
}

Box flow(Size s) {
    return {{0, s.width}, {0, s.height}, {0, 2}};
}
Box coarse_flow(Size s) {
    return {{0, (s.width + 5) / 2}, {0, (s.height + 5) / 2}, {0, 2}};
}
double wave(double x, double y) {
    return 0.5 + 0.25 * std::sin(x * 0.5 + y * 0.3) + 0.25 * std::cos(y * 0.4 - x * 0.2);
}
double first_picture(const Point &p, Size) {
    return wave(p[0] - border_first, p[1] - border_first);
}
double second_picture(const Point &p, Size) {
    return wave(p[0] - border_second - 1.7, p[1] - border_second + 0.9);
}
double guess(const Point &p, Size) {
    return (p[2] == 0 ? 0.7 : -0.3) + apps::u8(p[0] / 8, p[1] / 8, p[2]) / 1024.0;
}

}  // namespace

std::vector<Practice> lucas_kanade_practices() {
    return {{.name = "lucas_kanade",
             .title = "step of pyramidal Lucas-Kanade, window 5×5",
             .make = lucas_kanade,
             .loops = lucas_kanade_loops,
             .inputs = {{padded<border_first>, first_picture},
                        {padded<border_second>, second_picture},
                        {coarse_flow, guess}},
             .output = flow,
             .tolerance = 1e-3,
             .size = {1280, 960},
             .small = apps::awkward_sizes()}};
}

}  // namespace practice
