// Merges exposures of one scene: radiance by the response curve of the camera, and a tone curve.
#include "apps/practice/loops.h"

namespace practice {
namespace {

using namespace Pipe;

constexpr int exposures = 4;

Program hdr() {
    ImageParam in(UInt(8), 3, "in"), response(Float(32), 1, "response"),
        log_time(Float(32), 1, "log_time");
    Var x("x"), y("y"), b("b");
    RDom e(0, exposures, "e");
    Func weight("weight"), merged("merged"), out("hdr");
    weight(b) = cast<float>(min(b, 255 - b)) + 1;
    const Expr pixel = cast<int>(in(x, y, e));
    merged(x, y) = {0.0f, 0.0f};
    merged(x, y) = {merged(x, y)[0] + weight(pixel) * (response(pixel) - log_time(e)),
                    merged(x, y)[1] + weight(pixel)};
    const Expr radiance = exp(merged(x, y)[0] / merged(x, y)[1]);
    out(x, y) = radiance / (1 + radiance);
    return {{in, response, log_time}, out};
}

void hdr_loops(const Arrays &arrays, Size size) {
    const uint8_t *in = arrays.in<uint8_t>(0);
    const float *response = arrays.in<float>(1), *log_time = arrays.in<float>(2);
    float *out = arrays.out<float>();
    const ptrdiff_t pixels = ptrdiff_t(size.width) * size.height;
#pragma omp parallel for simd
    for (ptrdiff_t i = 0; i < pixels; ++i) {
        float sum = 0, total = 0;
        for (int e = 0; e < exposures; ++e) {
            const int pixel = in[e * pixels + i];
            const float weight = float(std::min(pixel, 255 - pixel)) + 1;
            sum += weight * (response[pixel] - log_time[e]);
            total += weight;
        }
        const float radiance = std::exp(sum / total);
        out[i] = radiance / (1 + radiance);
    }
}

Box bracket(Size s) {
    return {{0, s.width}, {0, s.height}, {0, exposures}};
}
Box levels(Size) {
    return {{0, 256}};
}
Box times(Size) {
    return {{0, exposures}};
}
double curve(const Point &p, Size) {
    return std::log((p[0] + 1) / 128.0);
}
double logarithm(const Point &p, Size) {
    return (p[0] - 2) * 0.7;
}

}  // namespace

std::vector<Practice> hdr_practices() {
    return {{.name = "hdr",
             .title = "HDR merge of 4 exposures, uint8 to float",
             .make = hdr,
             .loops = hdr_loops,
             .inputs = {{bracket, byte_value}, {levels, curve}, {times, logarithm}},
             .output = apps::plane,
             .tolerance = 1e-5,
             .size = {2048, 1536},
             .small = apps::awkward_sizes()}};
}

}  // namespace practice
