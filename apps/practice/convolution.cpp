// The two halves of a separable convolution layer, channels innermost: 3×3 within each channel, and 1×1
// across channels.
#include "apps/practice/loops.h"

namespace practice {
namespace {

using namespace Pipe;

constexpr int channels = 96, channels_out = 128;

Program depthwise() {
    ImageParam in(Float(32), 3, "in"), weights(Float(32), 3, "weights"), bias(Float(32), 1, "bias");
    Var c("c"), x("x"), y("y");
    RDom r(0, 3, 0, 3, "r");
    Func total("total"), out("depthwise");
    total(c, x, y) = bias(c);
    total(c, x, y) += in(c, x + r.x, y + r.y) * weights(c, r.x, r.y);
    out(c, x, y) = max(total(c, x, y), 0);
    return {{in, weights, bias}, out};
}

void depthwise_loops(const Arrays &arrays, Size size) {
    const float *in = arrays.in<float>(0), *weights = arrays.in<float>(1),
                *bias = arrays.in<float>(2);
    float *out = arrays.out<float>();
    const ptrdiff_t row = ptrdiff_t(size.width + 2) * channels;
#pragma omp parallel for
    for (int y = 0; y < size.height; ++y) {
        for (ptrdiff_t x = 0; x < size.width; ++x) {
            const float *from = in + y * row + x * channels;
            float *to = out + (y * ptrdiff_t(size.width) + x) * channels;
#pragma omp simd
            for (int c = 0; c < channels; ++c) {
                float total = bias[c];
                for (int b = 0; b < 3; ++b) {
                    for (int a = 0; a < 3; ++a)
                        total +=
                            from[b * row + a * channels + c] * weights[(b * 3 + a) * channels + c];
                }
                to[c] = std::max(total, 0.f);
            }
        }
    }
}

Program pointwise() {
    ImageParam in(Float(32), 3, "in"), weights(Float(32), 2, "weights"), bias(Float(32), 1, "bias");
    Var c("c"), x("x"), y("y");
    RDom k(0, channels, "k");
    Func total("total"), out("pointwise");
    total(c, x, y) = bias(c);
    total(c, x, y) += in(k, x, y) * weights(c, k);
    out(c, x, y) = max(total(c, x, y), 0);
    return {{in, weights, bias}, out};
}

void pointwise_loops(const Arrays &arrays, Size size) {
    const float *in = arrays.in<float>(0), *weights = arrays.in<float>(1),
                *bias = arrays.in<float>(2);
    float *out = arrays.out<float>();
    constexpr ptrdiff_t block = 32;
    const ptrdiff_t pixels = ptrdiff_t(size.width) * size.height;
#pragma omp parallel for
    for (ptrdiff_t p = 0; p < pixels; p += block) {
        const ptrdiff_t count = std::min(block, pixels - p);
        float *to = out + p * channels_out;
        product(count, channels_out, channels, in + p * channels, channels, weights, channels_out,
                to, channels_out);
        for (ptrdiff_t i = 0; i < count; ++i) {
            for (int c = 0; c < channels_out; ++c)
                to[i * channels_out + c] = std::max(to[i * channels_out + c] + bias[c], 0.f);
        }
    }
}

Box padded_input(Size s) {
    return {{0, channels}, {0, s.width + 2}, {0, s.height + 2}};
}
Box input(Size s) {
    return {{0, channels}, {0, s.width}, {0, s.height}};
}
Box depthwise_weights(Size) {
    return {{0, channels}, {0, 3}, {0, 3}};
}
Box pointwise_weights(Size) {
    return {{0, channels_out}, {0, channels}};
}
Box output(Size s) {
    return {{0, channels_out}, {0, s.width}, {0, s.height}};
}
template <int count> Box channel(Size) {
    return {{0, count}};
}

}  // namespace

std::vector<Practice> convolution_practices() {
    const std::vector<Size> small{{1, 1}, {7, 5}, {3, 17}};
    return {{.name = "depthwise",
             .title = "depthwise 3×3 convolution, 96 channels, ReLU",
             .make = depthwise,
             .loops = depthwise_loops,
             .inputs = {{padded_input, signed_value},
                        {depthwise_weights, signed_value},
                        {channel<channels>, signed_value}},
             .output = input,
             .tolerance = 1e-5,
             .size = {112, 112},
             .small = small},
            {.name = "pointwise",
             .title = "pointwise convolution, 96 → 128 channels, ReLU",
             .make = pointwise,
             .loops = pointwise_loops,
             .inputs = {{input, signed_value},
                        {pointwise_weights, signed_value},
                        {channel<channels_out>, signed_value}},
             .output = output,
             .tolerance = 1e-5,
             .size = {56, 56},
             .small = small}};
}

}  // namespace practice
