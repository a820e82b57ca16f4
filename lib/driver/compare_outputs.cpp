#include "driver/compare_outputs.h"

#include <cmath>
#include <cstring>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace Pipe::driver {
namespace {

constexpr unsigned char unlikely = 0xfb;  // a negative float of large magnitude, 251, -5

/// Calls f(pointer, coordinates) for every element.
template <typename F> void each_element(const BufferView &view, const F &f) {
    std::vector<int64_t> at;
    for (const BufferDim &d : view.dims) {
        if (d.extent <= 0)
            return;
        at.push_back(d.min);
    }
    const int64_t bytes = view.type.bytes();
    char *element = static_cast<char *>(view.host);
    while (true) {
        f(element, at);
        size_t d = 0;
        for (; d < at.size(); d++) {
            const BufferDim &dim = view.dims[d];
            element += dim.stride * bytes;
            if (++at[d] < dim.min + dim.extent)
                break;
            element -= dim.stride * bytes * dim.extent;
            at[d] = dim.min;
        }
        if (d == at.size())
            return;
    }
}

const char *address(const BufferView &view, const std::vector<int64_t> &at) {
    int64_t offset = 0;
    for (size_t d = 0; d < at.size(); d++)
        offset += (at[d] - view.dims[d].min) * view.dims[d].stride;
    return static_cast<const char *>(view.host) + offset * view.type.bytes();
}

template <typename T> T value_at(const char *element) {
    T value;
    std::memcpy(&value, element, sizeof value);
    return value;
}

double float_at(const char *element, Type type) {
    if (type.bits() == 64)
        return value_at<double>(element);
    if (type.bits() == 32)
        return static_cast<double>(value_at<float>(element));
    return type.is_bfloat() ? static_cast<double>(value_at<bfloat16_t>(element))
                            : static_cast<double>(value_at<float16_t>(element));
}

std::string text_at(const char *element, Type type) {
    if (type.is_float())
        return fmt::format("{}", float_at(element, type));
    uint64_t bits = 0;
    std::memcpy(&bits, element, static_cast<size_t>(type.bytes()));
    if (!type.is_int())
        return std::to_string(bits);
    const int unused = 64 - type.bits();
    return std::to_string(static_cast<int64_t>(bits << unused) >> unused);
}

/// Of all finite values.
double largest(const BufferView &view) {
    double result = 0;
    each_element(view, [&](const char *element, const auto &) {
        const double value = std::abs(float_at(element, view.type));
        if (std::isfinite(value))
            result = std::max(result, value);
    });
    return result;
}

bool same_float(double a, double b, double allowed) {
    if (std::isnan(a) || std::isnan(b))
        return std::isnan(a) && std::isnan(b);
    return a == b || std::abs(a - b) <= allowed;
}

std::string difference(const BufferView &now, const BufferView &expected, double tolerance,
                       size_t number) {
    const Type type = now.type;
    const double allowed = type.is_float() ? tolerance * largest(expected) : 0;
    int64_t wrong = 0, count = 0;
    std::string first;
    each_element(now, [&](const char *element, const std::vector<int64_t> &at) {
        count++;
        const char *other = address(expected, at);
        const bool same = type.is_float()
                              ? same_float(float_at(element, type), float_at(other, type), allowed)
                              : std::memcmp(element, other, static_cast<size_t>(type.bytes())) == 0;
        if (!same && wrong++ == 0)
            first = fmt::format("output {} is {} at ({}), but {} was expected", number,
                                text_at(element, type), fmt::join(at, ", "), text_at(other, type));
    });
    return wrong == 0 ? "" : fmt::format("{}; {} of {} elements differ", first, wrong, count);
}

}  // namespace

std::vector<Buffer<void>> copy_of(const Realization &outputs) {
    std::vector<Buffer<void>> result;
    for (size_t i = 0; i < outputs.size(); i++)
        result.push_back(outputs[i].copy());
    return result;
}

void poison(const Realization &outputs) {
    for (size_t i = 0; i < outputs.size(); i++) {
        const BufferView view = outputs[i].view();
        each_element(view, [&](char *element, const auto &) {
            std::memset(element, unlikely, static_cast<size_t>(view.type.bytes()));
        });
    }
}

std::string output_difference(const Realization &outputs, const std::vector<Buffer<void>> &expected,
                              double tolerance) {
    for (size_t i = 0; i < outputs.size(); i++)
        if (std::string text = difference(outputs[i].view(), expected[i].view(), tolerance, i);
            !text.empty())
            return text;
    return "";
}

}  // namespace Pipe::driver
