// Of two pictures of one scene, as for their mutual information.
#include "apps/practice/loops.h"

#include <cstring>

namespace practice {
namespace {

using namespace Pipe;

constexpr int bins = 256;

Program joint_histogram() {
    ImageParam a(UInt(8), 2, "a"), b(UInt(8), 2, "b");
    Var i("i"), j("j");
    RDom r(0, a.width(), 0, a.height(), "r");
    Func out("joint_histogram");
    out(i, j) = 0;
    out(a(r.x, r.y), b(r.x, r.y)) += 1;
    return {{a, b}, out};
}

void joint_histogram_loops(const Arrays &arrays, Size size) {
    const uint8_t *a = arrays.in<uint8_t>(0), *b = arrays.in<uint8_t>(1);
    int *out = arrays.out<int>();
    const ptrdiff_t pixels = ptrdiff_t(size.width) * size.height;
    std::memset(out, 0, sizeof(int) * bins * bins);
#pragma omp parallel
    {
        std::vector<int> own(bins * bins);
#pragma omp for nowait
        for (ptrdiff_t i = 0; i < pixels; ++i)
            own[size_t(b[i] * bins + a[i])]++;
#pragma omp critical
        for (size_t i = 0; i < own.size(); ++i)
            out[i] += own[i];
    }
}

/// Smooth, with some noise; the second picture is like the first one, a little darker and to the side.
double scene(const Point &p, double brightness, double shift, int noise) {
    return brightness + 70 * std::sin(p[0] * 0.01 + shift) * std::cos(p[1] * 0.013) +
           apps::u8(p[0], p[1], noise) / 16;
}
double first_scan(const Point &p, Size) {
    return scene(p, 128, 0, 0);
}
double second_scan(const Point &p, Size) {
    return scene(p, 120, 0.3, 1);
}

Box table(Size) {
    return {{0, bins}, {0, bins}};
}

}  // namespace

std::vector<Practice> statistics_practices() {
    return {{.name = "joint_histogram",
             .title = "joint histogram of two pictures, uint8",
             .make = joint_histogram,
             .loops = joint_histogram_loops,
             .inputs = {{apps::plane, first_scan}, {apps::plane, second_scan}},
             .output = table,
             .size = {4096, 3072},
             .small = apps::awkward_sizes()}};
}

}  // namespace practice
