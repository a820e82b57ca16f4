// Lanczos resampling by 3/2 along both axes, with a table of the weights of each of the three phases.
#include "apps/practice/loops.h"

#include <numbers>

namespace practice {
namespace {

using namespace Pipe;

constexpr int taps = 6, phases = 3;

Program lanczos() {
    ImageParam in(Float(32), 2, "in"), weights(Float(32), 2, "weights");
    Var x("x"), y("y");
    RDom k(0, taps, "k");
    Func columns("columns"), out("lanczos");
    columns(x, y) += weights(k, y % phases) * in(x, y * 2 / phases + k);
    out(x, y) += weights(k, x % phases) * columns(x * 2 / phases + k, y);
    return {{in, weights}, out};
}

void lanczos_loops(const Arrays &arrays, Size size) {
    const float *in = arrays.in<float>(0), *weights = arrays.in<float>(1);
    float *out = arrays.out<float>();
    const ptrdiff_t width = size.width, padded = width * 2 / phases + taps;
#pragma omp parallel
    {
        std::vector<float> row(size_t(padded) + taps);
#pragma omp for
        for (int y = 0; y < size.height; ++y) {
            const float *from = in + (y * 2 / phases) * padded, *w = weights + y % phases * taps;
            for (ptrdiff_t x = 0; x < padded; ++x) {
                float sum = 0;
                for (int k = 0; k < taps; ++k)
                    sum += w[k] * from[k * padded + x];
                row[size_t(x)] = sum;
            }
            float *to = out + y * width;
            const ptrdiff_t periods = width / phases;
            for (ptrdiff_t i = 0; i < periods; ++i) {
                for (int phase = 0; phase < phases; ++phase) {
                    float sum = 0;
                    for (int k = 0; k < taps; ++k)
                        sum +=
                            weights[phase * taps + k] * row[size_t(2 * i + phase * 2 / phases + k)];
                    to[phases * i + phase] = sum;
                }
            }
            for (ptrdiff_t x = periods * phases; x < width; ++x) {
                to[x] = 0;
                for (int k = 0; k < taps; ++k)
                    to[x] += weights[x % phases * taps + k] * row[size_t(x * 2 / phases + k)];
            }
        }
    }
}

Box source(Size s) {
    return {{0, s.width * 2 / phases + taps}, {0, s.height * 2 / phases + taps}};
}
Box table(Size) {
    return {{0, taps}, {0, phases}};
}
double sinc(double t) {
    return t == 0 ? 1 : std::sin(std::numbers::pi * t) / (std::numbers::pi * t);
}
double weight(const Point &p, Size) {
    const double position = p[1] * 2.0 / phases, t = p[0] - 2 - (position - std::floor(position));
    return std::abs(t) < 3 ? sinc(t) * sinc(t / 3) : 0;
}

}  // namespace

std::vector<Practice> resampling_practices() {
    return {{.name = "lanczos",
             .title = "Lanczos resampling by 3/2, table of phases",
             .make = lanczos,
             .loops = lanczos_loops,
             .inputs = {{source, unit_value}, {table, weight}},
             .output = apps::plane,
             .tolerance = 1e-5,
             .size = {3072, 2304},
             .small = apps::awkward_sizes()}};
}

}  // namespace practice
