// Tomography: back-projection of a sinogram.
#include "apps/practice/loops.h"

#include <numbers>

namespace practice {
namespace {

using namespace Pipe;

constexpr int angles = 180;

Program back_projection() {
    ImageParam sinogram(Float(32), 2, "sinogram"), direction(Float(32), 2, "direction");
    Var x("x"), y("y");
    RDom a(0, angles, "a");
    const Expr detectors = sinogram.width();
    const Expr position = direction(0, a) * x + direction(1, a) * y + direction(2, a);
    const Expr left = clamp(cast<int>(floor(position)), 0, detectors - 2), part = position - left;
    Func out("back_projection");
    out(x, y) += lerp(sinogram(left, a), sinogram(left + 1, a), clamp(part, 0.0f, 1.0f));
    return {{sinogram, direction}, out};
}

void back_projection_loops(const Arrays &arrays, Size size) {
    const float *sinogram = arrays.in<float>(0), *direction = arrays.in<float>(1);
    float *out = arrays.out<float>();
    const int detectors = int(arrays.inputs[0].dim(0).extent());
    const ptrdiff_t width = size.width;
#pragma omp parallel for
    for (int y = 0; y < size.height; ++y) {
        float *to = out + y * width;
        std::fill(to, to + width, 0.f);
        for (int a = 0; a < angles; ++a) {
            const float *ray = sinogram + a * ptrdiff_t(detectors), *d = direction + 3 * a;
            const float start = d[1] * float(y) + d[2];
#pragma omp simd
            for (int x = 0; x < int(width); ++x) {
                const float position = d[0] * float(x) + start;
                const int left = std::clamp(int(std::floor(position)), 0, detectors - 2);
                const float part = std::clamp(position - float(left), 0.f, 1.f);
                to[x] += ray[left] + part * (ray[left + 1] - ray[left]);
            }
        }
    }
}

int detectors(Size s) {
    return int(std::ceil(std::hypot(s.width, s.height))) + 2;
}
Box rays(Size s) {
    return {{0, detectors(s)}, {0, angles}};
}
Box directions(Size) {
    return {{0, 3}, {0, angles}};
}
// The center of the picture is projected onto the middle of the detectors.
double component(const Point &p, Size s) {
    const double angle = std::numbers::pi * p[1] / angles;
    const double c = std::cos(angle), d = std::sin(angle);
    return p[0] == 0   ? c
           : p[0] == 1 ? d
                       : (detectors(s) - 1 - c * (s.width - 1) - d * (s.height - 1)) / 2;
}
// Smooth, so that a position that is rounded across a detector makes no difference.
double ray(const Point &p, Size) {
    return 1 + std::sin(p[0] * 0.1) * std::cos(p[1] * 0.05);
}

}  // namespace

std::vector<Practice> back_projection_practices() {
    return {{.name = "back_projection",
             .title = "back-projection of 180 angles",
             .make = back_projection,
             .loops = back_projection_loops,
             .inputs = {{rays, ray}, {directions, component}},
             .output = apps::plane,
             .tolerance = 1e-4,
             .size = {512, 512},
             .small = {{1, 1}, {7, 5}, {33, 3}, {65, 67}}}};
}

}  // namespace practice
