#include "apps/camera_pipe/camera_pipe.h"

#include "apps/common/gpu.h"

#include <cmath>

namespace apps {
using namespace dsl;

namespace {

Expr i16(const Expr &e) {
    return cast<int16_t>(e);
}

/// Toward zero; `/` rounds down.
Expr truncated(const Expr &e, int divisor) {
    return select(e < 0, e + (divisor - 1), e) / divisor;
}

}  // namespace

CameraPipe::CameraPipe(Form form_) : form(form_), raw(UInt(16), 2, "raw") {
    suppress_hot_pixels();
    demosaic();
    correct_colors();
    make_curve();
    inputs = {raw};
    stages = {denoised, g_gr, r_r, b_b, g_gb,       g_r,       g_b,   r_gr,  b_gr,
              r_gb,     b_gb, r_b, b_r, demosaiced, corrected, curve, curved};
    if (form == Form::Halide)
        sharpen();
}

/// All operands are small and positive.
Expr CameraPipe::avg(const Expr &a, const Expr &b) const {
    return form == Form::Halide ? (a + b + 1) / 2 : (a + b) / 2;
}

void CameraPipe::suppress_hot_pixels() {
    auto at = [&](const Expr &column, const Expr &row) { return i16(raw(column, row)); };
    const Expr a = at(x - 2, y), b = at(x + 2, y), d = at(x, y - 2), e = at(x, y + 2);
    const Expr largest = max(max(a, b), max(d, e)), smallest = min(min(a, b), min(d, e));
    denoised(x, y) = clamp(at(x, y), form == Form::Halide ? i16(0) : smallest, largest);
}

void CameraPipe::demosaic() {
    g_gr(x, y) = denoised(2 * x, 2 * y);
    r_r(x, y) = denoised(2 * x + 1, 2 * y);
    b_b(x, y) = denoised(2 * x, 2 * y + 1);
    g_gb(x, y) = denoised(2 * x + 1, 2 * y + 1);

    // green: along the direction in which it changes less
    const Expr gv_r = avg(g_gb(x, y - 1), g_gb(x, y)), gh_r = avg(g_gr(x + 1, y), g_gr(x, y));
    const Expr gvd_r = absd(g_gb(x, y - 1), g_gb(x, y)), ghd_r = absd(g_gr(x + 1, y), g_gr(x, y));
    g_r(x, y) = select(ghd_r < gvd_r, gh_r, gv_r);
    const Expr gv_b = avg(g_gr(x, y + 1), g_gr(x, y)), gh_b = avg(g_gb(x - 1, y), g_gb(x, y));
    const Expr gvd_b = absd(g_gr(x, y + 1), g_gr(x, y)), ghd_b = absd(g_gb(x - 1, y), g_gb(x, y));
    g_b(x, y) = select(ghd_b < gvd_b, gh_b, gv_b);

    // red and blue at the green pixels: the neighbors' mean, corrected by how green differs
    auto at_green = [&](const Func &green, const Func &other, const Func &value, int dx, int dy) {
        return green(x, y) - avg(other(x, y), other(x + dx, y + dy)) +
               avg(value(x + dx, y + dy), value(x, y));
    };
    r_gr(x, y) = at_green(g_gr, g_r, r_r, -1, 0);
    b_gr(x, y) = at_green(g_gr, g_b, b_b, 0, -1);
    r_gb(x, y) = at_green(g_gb, g_r, r_r, 0, 1);
    b_gb(x, y) = at_green(g_gb, g_b, b_b, 1, 0);

    // red at blue and blue at red: along the diagonal in which they change less
    auto across = [&](const Func &green, const Func &other, const Func &value, int dx, int dy) {
        const Expr p = green(x, y) - avg(other(x, y), other(x + dx, y + dy)) +
                       avg(value(x, y), value(x + dx, y + dy));
        const Expr pd = absd(value(x, y), value(x + dx, y + dy));
        const Expr n = green(x, y) - avg(other(x + dx, y), other(x, y + dy)) +
                       avg(value(x + dx, y), value(x, y + dy));
        const Expr nd = absd(value(x + dx, y), value(x, y + dy));
        return select(pd < nd, p, n);
    };
    r_b(x, y) = across(g_b, g_r, r_r, -1, 1);
    b_r(x, y) = across(g_r, g_b, b_b, 1, -1);

    auto interleave = [&](const Func &ee, const Func &eo, const Func &oe, const Func &oo) {
        return select(y % 2 == 0, select(x % 2 == 0, ee(x / 2, y / 2), eo(x / 2, y / 2)),
                      select(x % 2 == 0, oe(x / 2, y / 2), oo(x / 2, y / 2)));
    };
    demosaiced(x, y, c) =
        select(c == 0, interleave(r_gr, r_r, r_b, r_gb), c == 1, interleave(g_gr, g_r, g_b, g_gb),
               interleave(b_gr, b_r, b_b, b_gb));
}

std::array<std::array<int, 4>, 3> CameraPipe::color_matrix() {
    const float at_3200[3][4] = {{1.6697f, -0.2693f, -0.4004f, -42.4346f},
                                 {-0.3576f, 1.0615f, 1.5949f, -37.1158f},
                                 {-0.2175f, -1.8751f, 6.9640f, -26.6970f}};
    const float at_7000[3][4] = {{2.2997f, -0.4478f, 0.1706f, -39.0923f},
                                 {-0.3826f, 1.5906f, -0.2080f, -25.4311f},
                                 {-0.0888f, -0.7344f, 2.2832f, -20.0826f}};
    const float temperature = 3700;
    const float alpha = (1 / temperature - 1.0f / 3200) / (1.0f / 7000 - 1.0f / 3200);
    std::array<std::array<int, 4>, 3> matrix;
    for (size_t i = 0; i < 3; ++i) {
        for (size_t j = 0; j < 4; ++j)
            matrix[i][j] = int(256 * (at_3200[i][j] * alpha + at_7000[i][j] * (1 - alpha)));
    }
    return matrix;
}

void CameraPipe::correct_colors() {
    const auto matrix = color_matrix();
    auto row = [&](size_t i) {
        auto value = [&](int channel) { return cast<int>(demosaiced(x, y, channel)); };
        const auto &m = matrix[i];
        const Expr sum = m[3] + m[0] * value(0) + m[1] * value(1) + m[2] * value(2);
        return i16(form == Form::Halide ? sum / 256 : truncated(sum, 256));
    };
    corrected(x, y, c) = select(c == 0, row(0), c == 1, row(1), row(2));
}

void CameraPipe::make_curve() {
    const double gamma = 2.0, contrast = 50, black = 25, white = 1023;
    const double b = 2 - std::pow(2.0, contrast / 100), a = 2 - 2 * b;
    const Expr value = cast<double>(v), zero = cast<double>(0), one = cast<double>(1);
    const Expr xf = form == Form::Halide
                        ? clamp((value - Expr(black)) / Expr(white - black), zero, one)
                        : clamp(value / Expr(1024.0), zero, one);
    const Expr g = pow(xf, Expr(1.0 / gamma)), h = one - g;
    const Expr z =
        select(g > Expr(0.5), one - (Expr(a) * h * h + Expr(b) * h), Expr(a) * g * g + Expr(b) * g);
    const Expr top = cast<double>(255);
    const Expr entry = form == Form::Halide ? clamp(top * z + Expr(0.5), zero, top)
                                            : clamp(cast<double>(256) * z, zero, top);
    curve(v) = cast<uint8_t>(entry);
    const Expr index = cast<int>(corrected(x, y, c));
    curved(x, y, c) = curve(form == Form::Halide ? clamp(index, 0, 1023) : index);
}

void CameraPipe::sharpen() {
    const int strength = 32;
    auto avg8 = [](const Expr &a, const Expr &b) {
        return cast<uint8_t>((cast<uint16_t>(a) + cast<uint16_t>(b) + 1) / 2);
    };
    auto blur = [&](const Expr &a, const Expr &b, const Expr &d) { return avg8(avg8(a, d), b); };
    unsharp_y(x, y, c) = blur(curved(x, y - 1, c), curved(x, y, c), curved(x, y + 1, c));
    unsharp(x, y, c) = blur(unsharp_y(x - 1, y, c), unsharp_y(x, y, c), unsharp_y(x + 1, y, c));
    const Expr mask = i16(curved(x, y, c)) - i16(unsharp(x, y, c));
    sharpened(x, y, c) = cast<uint8_t>(clamp(i16(curved(x, y, c)) + mask * strength / 32, 0, 255));
    stages.insert(stages.end(), {unsharp_y, unsharp, sharpened});
}

// Strips of rows in parallel, two rows at a time, so that rows and columns of either parity are
// known. What the demosaic reads slides down the strip at half resolution.
void CameraPipe::schedule_by_hand(const Target &target) {
    const int vec = target.natural_vector_size(Int(16));
    Func last = output();
    curve.compute_root();
    last.bound(c, 0, 3).split(y, yo, yi, 64).parallel(yo);
    if (form == Form::PolyMage) {
        // blocks of two rows, whose colors are made together
        last.reorder(c, x, yi, yo)
            .tile(x, yi, x, yi, xi, yu, 2 * vec, 2)
            .vectorize(xi, vec)
            .unroll(yu)
            .unroll(c);
        for (Func f : {demosaiced, corrected})
            f.compute_at(last, x).reorder(c, x, y).vectorize(x, vec).unroll(y).unroll(c);
    } else {
        last.split(yi, yi, yu, 2).reorder(x, c, yu, yi, yo).vectorize(x, vec);
        curved.store_at(last, yo).compute_at(last, yi).reorder(x, c, y).vectorize(x, vec);
        demosaiced.compute_at(curved, y).vectorize(x, vec);
    }
    denoised.store_at(last, yo).compute_at(last, yi).vectorize(x, vec);
    for (Func f : {g_gr, r_r, b_b, g_gb, g_r, g_b}) {
        f.store_at(last, yo).compute_at(last, yi).vectorize(x, vec);
    }
}

// One kernel: all stages of a block of pixels in shared memory, those at half resolution as one plane for each position
// of a pixel in the pattern of the sensor. The table is made by the host.
void CameraPipe::schedule_for_gpu(const Target &) {
    curve.compute_root();
    Func last = output();
    last.bound(c, 0, 3);
    GPUKernel kernel{last, x, y};
    kernel.schedule({.width = 32, .height = 8, .columns = 2, .rows = 4}, {c});
    for (Func f : {raw.in(), denoised, g_r, g_b, r_gr, b_gr, r_gb, b_gb, r_b, b_r})
        kernel.share(f);
    if (form == Form::Halide) {
        kernel.share(curved);
        curved.reorder(c, x, y).unroll(c);
        kernel.share(unsharp_y);
    }
}

}  // namespace apps
