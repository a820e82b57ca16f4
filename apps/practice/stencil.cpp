// Heat in three dimensions: one step, in double precision.
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
             .small = {{1, 1}, {7, 5}, {33, 3}, {3, 17}}}};
}

}  // namespace practice
