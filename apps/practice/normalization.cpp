// Softmax and layer normalization of the rows of a matrix.
#include "apps/practice/loops.h"

namespace practice {
namespace {

using namespace Pipe;

Program softmax() {
    ImageParam in(Float(32), 2, "in");
    Var x("x"), y("y");
    RDom c(0, in.width(), "c");
    Func largest("largest"), e("e"), total("total"), out("softmax");
    largest(y) = maximum(in(c, y));
    e(x, y) = exp(in(x, y) - largest(y));
    total(y) = sum(e(c, y));
    out(x, y) = e(x, y) / total(y);
    return {{in}, out};
}

void softmax_loops(const Arrays &arrays, Size size) {
    const float *in = arrays.in<float>(0);
    float *out = arrays.out<float>();
    const ptrdiff_t width = size.width;
#pragma omp parallel for
    for (int y = 0; y < size.height; ++y) {
        const float *from = in + y * width;
        float *to = out + y * width;
        float largest = from[0], total = 0;
        for (ptrdiff_t x = 1; x < width; ++x)
            largest = std::max(largest, from[x]);
        for (ptrdiff_t x = 0; x < width; ++x)
            total += to[x] = std::exp(from[x] - largest);
        const float scale = 1 / total;
        for (ptrdiff_t x = 0; x < width; ++x)
            to[x] *= scale;
    }
}

Program layer_norm() {
    ImageParam in(Float(32), 2, "in"), gain(Float(32), 1, "gain"), bias(Float(32), 1, "bias");
    Var x("x"), y("y");
    RDom c(0, in.width(), "c");
    const Expr count = cast<float>(in.width());
    Func mean("mean"), variance("variance"), out("layer_norm");
    mean(y) = sum(in(c, y)) / count;
    variance(y) = sum(pow(in(c, y) - mean(y), 2)) / count;
    out(x, y) = (in(x, y) - mean(y)) / sqrt(variance(y) + 1e-5f) * gain(x) + bias(x);
    return {{in, gain, bias}, out};
}

void layer_norm_loops(const Arrays &arrays, Size size) {
    const float *in = arrays.in<float>(0), *gain = arrays.in<float>(1), *bias = arrays.in<float>(2);
    float *out = arrays.out<float>();
    const ptrdiff_t width = size.width;
#pragma omp parallel for
    for (int y = 0; y < size.height; ++y) {
        const float *from = in + y * width;
        float *to = out + y * width;
        float mean = 0, variance = 0;
        for (ptrdiff_t x = 0; x < width; ++x)
            mean += from[x];
        mean /= float(width);
        for (ptrdiff_t x = 0; x < width; ++x)
            variance += (from[x] - mean) * (from[x] - mean);
        const float scale = 1 / std::sqrt(variance / float(width) + 1e-5f);
        for (ptrdiff_t x = 0; x < width; ++x)
            to[x] = (from[x] - mean) * scale * gain[x] + bias[x];
    }
}

Box one_row(Size s) {
    return {{0, s.width}};
}

}  // namespace

std::vector<Practice> normalization_practices() {
    const std::vector<Size> small{{1, 1}, {7, 5}, {33, 3}, {130, 67}};
    return {{.name = "softmax",
             .title = "softmax of rows",
             .make = softmax,
             .loops = softmax_loops,
             .inputs = {{apps::plane, signed_value}},
             .output = apps::plane,
             .tolerance = 1e-5,
             .size = {1000, 4096},
             .small = small},
            {.name = "layer_norm",
             .title = "layer normalization of rows",
             .make = layer_norm,
             .loops = layer_norm_loops,
             .inputs = {{apps::plane, signed_value}, {one_row, unit_value}, {one_row, unit_value}},
             .output = apps::plane,
             .tolerance = 1e-4,
             .size = {768, 4096},
             .small = small}};
}

}  // namespace practice
