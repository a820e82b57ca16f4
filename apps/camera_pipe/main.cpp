// Develops raw data, in both forms. The picture given is the raw data itself, one channel of 16 bits,
// or a photograph, of which is made what a sensor would have counted.
#include "apps/camera_pipe/camera_pipe.h"
#include "apps/common/demo.h"

#include <algorithm>
#include <cmath>

using Pipe::Buffer;

namespace {

const int most = 1023;  // of a sensor of 10 bits

using Color = std::array<float, 3>;
using Matrix = std::array<Color, 3>;

/// By Cramer's rule.
Matrix inverse(const Matrix &m) {
    auto minor = [&](size_t i, size_t j) {
        const size_t a = (i + 1) % 3, b = (i + 2) % 3, c = (j + 1) % 3, d = (j + 2) % 3;
        return m[a][c] * m[b][d] - m[a][d] * m[b][c];
    };
    const float determinant = m[0][0] * minor(0, 0) + m[0][1] * minor(0, 1) + m[0][2] * minor(0, 2);
    Matrix result;
    for (size_t i = 0; i < 3; ++i) {
        for (size_t j = 0; j < 3; ++j)
            result[i][j] = minor(j, i) / determinant;
    }
    return result;
}

/// The camera pipeline backwards, without its sharpening: from a color of the picture to counts of
/// red, green and blue.
class Sensor {
  public:
    explicit Sensor(apps::CameraPipe::Form form) {
        curve_ = apps::CameraPipe(form).curve.realize({most + 1});
        const auto matrix = apps::CameraPipe::color_matrix();
        Matrix factors;
        for (size_t i = 0; i < 3; ++i) {
            for (size_t j = 0; j < 3; ++j)
                factors[i][j] = float(matrix[i][j]) / 256;
            offset_[i] = float(matrix[i][3]) / 256;
        }
        inverse_ = inverse(factors);
    }

    uint16_t count(const Color &color, int channel) const {
        float sum = 0;
        for (size_t i = 0; i < 3; ++i)
            sum += inverse_[size_t(channel)][i] * (before_curve(color[i]) - offset_[i]);
        return uint16_t(std::clamp(sum, 0.0f, float(most)) + 0.5f);
    }

  private:
    float before_curve(float value) const {
        const uint8_t *first = &curve_(0), *last = &curve_(most);
        return float(std::lower_bound(first, last, uint8_t(value * 255 + 0.5f)) - first);
    }

    Buffer<uint8_t> curve_;
    Color offset_;
    Matrix inverse_;
};

std::vector<apps::Inputs> sense(apps::CameraPipe::Form form, const Buffer<float> &photo) {
    const int width = int(photo.dim(0).extent()), height = int(photo.dim(1).extent());
    const Sensor sensor(form);
    Buffer<uint16_t> raw(width, height);
    raw.fill([&](int x, int y) {
        const int channel = x % 2 == y % 2 ? 1 : x % 2 ? 0 : 2;
        return sensor.count({photo(x, y, 0), photo(x, y, 1), photo(x, y, 2)}, channel);
    });
    return {{raw}};
}

/// Some sensors count further than their 10 bits: that is white.
std::vector<apps::Inputs> sensed(const Buffer<uint16_t> &counts) {
    Buffer<uint16_t> raw(counts.width(), counts.height());
    raw.fill([&](int x, int y) { return std::min(counts(x, y), uint16_t(most)); });
    return {{raw}};
}

/// The counts as gray.
Buffer<> counts(const apps::Inputs &inputs) {
    const Buffer<uint16_t> raw = inputs[0];
    Buffer<uint8_t> gray(raw.width(), raw.height());
    gray.fill([&](int x, int y) { return uint8_t(raw(x, y) >> 2); });
    return gray;
}

Buffer<> picture(const std::vector<Buffer<>> &outputs) {
    return outputs[0];
}

apps::Form form(const char *name, apps::CameraPipe::Form form) {
    return {name, [form](const Buffer<float> &photo) { return sense(form, photo); }, picture,
            counts, sensed};
}

}  // namespace

int main(int argc, char **argv) {
    return apps::demo(argc, argv, apps::camera_pipe_apps(),
                      {form("camera_pipe", apps::CameraPipe::Form::PolyMage),
                       form("camera_pipe_halide", apps::CameraPipe::Form::Halide)});
}
