// Simulations: a step of heat in three dimensions, in double precision, and of a fluid in two (lattice Boltzmann).
#include "apps/practice/loops.h"

namespace practice {
namespace {

using namespace Pipe;

Program stencil_3d() {
    ImageParam in(Float(64), 3, "in");
    Var x("x"), y("y"), z("z");
    const Expr around = in(x, y + 1, z + 1) + in(x + 2, y + 1, z + 1) + in(x + 1, y, z + 1) +
                        in(x + 1, y + 2, z + 1) + in(x + 1, y + 1, z) + in(x + 1, y + 1, z + 2);
    Func out("stencil_3d");
    out(x, y, z) = 0.4 * in(x + 1, y + 1, z + 1) + 0.1 * around;
    return {{in}, out};
}

void stencil_3d_loops(const Arrays &arrays, Size size) {
    const double *in = arrays.in<double>(0);
    double *out = arrays.out<double>();
    const ptrdiff_t width = size.width, height = size.height;
    const ptrdiff_t row = width + 2, slice = row * (height + 2);
#pragma omp parallel for collapse(2)
    for (ptrdiff_t z = 0; z < height; ++z) {
        for (ptrdiff_t y = 0; y < height; ++y) {
            const double *c = in + (z + 1) * slice + (y + 1) * row + 1;
            double *to = out + (z * height + y) * width;
            for (ptrdiff_t x = 0; x < width; ++x)
                to[x] = 0.4 * c[x] + 0.1 * (c[x - 1] + c[x + 1] + c[x - row] + c[x + row] +
                                            c[x - slice] + c[x + slice]);
        }
    }
}

// D2Q9: the populations that move in nine directions stream from the neighbors, and relax to their equilibrium. Periodic.
constexpr int directions = 9;
constexpr int move_x[directions] = {0, 1, 0, -1, 0, 1, -1, -1, 1};
constexpr int move_y[directions] = {0, 0, 1, 0, -1, 1, 1, -1, -1};
constexpr float relaxation = 1.2f;

constexpr float weight(int direction) {
    return direction == 0 ? 4 / 9.f : direction <= 4 ? 1 / 9.f : 1 / 36.f;
}

Program lattice_boltzmann() {
    ImageParam in(Float(32), 3, "in");
    Var x("x"), y("y"), direction("direction");
    const Func before = BoundaryConditions::repeat_image(in);
    std::vector<Expr> pulled, relaxed;
    Expr density = 0.0f, ux = 0.0f, uy = 0.0f;
    for (int i = 0; i < directions; ++i) {
        pulled.push_back(before(x - move_x[i], y - move_y[i], i));
        density += pulled.back();
        ux += float(move_x[i]) * pulled.back();
        uy += float(move_y[i]) * pulled.back();
    }
    ux /= density;
    uy /= density;
    for (int i = 0; i < directions; ++i) {
        const Expr u = float(move_x[i]) * ux + float(move_y[i]) * uy;
        const Expr equilibrium =
            weight(i) * density * (1.0f + 3.0f * u + 4.5f * u * u - 1.5f * (ux * ux + uy * uy));
        const Expr &now = pulled[size_t(i)];
        relaxed.push_back(now + relaxation * (equilibrium - now));
    }
    Func out("lattice_boltzmann");
    out(x, y, direction) = mux(direction, relaxed);
    return {{in}, out};
}

/// One cell, whose neighbors at the left and right are at `l` and `r`.
[[gnu::always_inline]] inline void relax_cell(const float *in, float *out, ptrdiff_t plane,
                                              const ptrdiff_t *rows, ptrdiff_t x, ptrdiff_t l,
                                              ptrdiff_t r) {
    float f[directions], density = 0, ux = 0, uy = 0;
#pragma GCC unroll 9
    for (int i = 0; i < directions; ++i) {
        const ptrdiff_t column = move_x[i] > 0 ? l : move_x[i] < 0 ? r : x;
        f[i] = in[i * plane + rows[1 - move_y[i]] + column];
        density += f[i];
        ux += float(move_x[i]) * f[i];
        uy += float(move_y[i]) * f[i];
    }
    ux /= density;
    uy /= density;
    const float base = 1 - 1.5f * (ux * ux + uy * uy);
#pragma GCC unroll 9
    for (int i = 0; i < directions; ++i) {
        const float u = float(move_x[i]) * ux + float(move_y[i]) * uy;
        const float equilibrium = weight(i) * density * (base + u * (3 + 4.5f * u));
        out[i * plane + rows[1] + x] = f[i] + relaxation * (equilibrium - f[i]);
    }
}

void lattice_boltzmann_loops(const Arrays &arrays, Size size) {
    const float *in = arrays.in<float>(0);
    float *out = arrays.out<float>();
    const ptrdiff_t width = size.width, height = size.height, plane = width * height;
#pragma omp parallel for
    for (ptrdiff_t y = 0; y < height; ++y) {
        const ptrdiff_t rows[] = {(y + height - 1) % height * width, y * width,
                                  (y + 1) % height * width};
        relax_cell(in, out, plane, rows, 0, width - 1, 1 % width);
#pragma omp simd
        for (ptrdiff_t x = 1; x < width - 1; ++x)
            relax_cell(in, out, plane, rows, x, x - 1, x + 1);
        if (width > 1)
            relax_cell(in, out, plane, rows, width - 1, width - 2, 0);
    }
}

double population(const Point &p, Size) {
    return weight(p[2]) * (1 + 0.1 * std::sin(p[0] * 0.05) + 0.05 * std::cos(p[1] * 0.03 + p[2]));
}
Box populations(Size s) {
    return {{0, s.width}, {0, s.height}, {0, directions}};
}

Box grid(Size s) {
    return {{0, s.width}, {0, s.height}, {0, s.height}};
}
Box surrounded(Size s) {
    return {{0, s.width + 2}, {0, s.height + 2}, {0, s.height + 2}};
}

}  // namespace

std::vector<Practice> stencil_practices() {
    return {{.name = "stencil_3d",
             .title = "3-D heat stencil, double (width × height and depth)",
             .make = stencil_3d,
             .loops = stencil_3d_loops,
             .inputs = {{surrounded, unit_value}},
             .output = grid,
             .tolerance = 1e-14,
             .size = {256, 192},
             .small = {{1, 1}, {7, 5}, {33, 3}, {3, 17}}},
            {.name = "lattice_boltzmann",
             .title = "lattice Boltzmann, 9 directions, one step",
             .make = lattice_boltzmann,
             .loops = lattice_boltzmann_loops,
             .inputs = {{populations, population}},
             .output = populations,
             .tolerance = 1e-5,
             .size = {512, 512},
             .small = {{1, 1}, {7, 5}, {33, 3}, {3, 17}}}};
}

}  // namespace practice
