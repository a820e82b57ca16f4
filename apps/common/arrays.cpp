#include "apps/common/arrays.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <stdexcept>

namespace apps {
namespace {

using Pipe::Buffer;

/// Calls f with a Buffer of the C++ element type.
template <typename F> void visit(const Buffer<> &a, F &&f) {
    const Pipe::Type type = a.type();
    if (type == Pipe::Float(32))
        return f(a.as<float>());
    if (type == Pipe::Float(64))
        return f(a.as<double>());
    if (type == Pipe::UInt(8))
        return f(a.as<uint8_t>());
    if (type == Pipe::UInt(16))
        return f(a.as<uint16_t>());
    if (type == Pipe::Int(16))
        return f(a.as<int16_t>());
    if (type == Pipe::Int(32))
        return f(a.as<int32_t>());
    throw std::logic_error("apps: an array of " + to_string(type) + ", which no application has");
}

int64_t place(const Point &p, const Buffer<> &array) {
    int64_t offset = 0;
    for (int d = 0; d < array.dimensions(); ++d)
        offset += (p[size_t(d)] - array.min(d)) * array.stride(d);
    return offset;
}

/// The coordinates that follow `p`, x first.
void advance(Point &p, const Buffer<> &array) {
    for (int d = 0; d < array.dimensions(); ++d) {
        if (++p[size_t(d)] <= array.max(d))
            return;
        p[size_t(d)] = int(array.min(d));
    }
}

}  // namespace

Buffer<> make_array(Pipe::Type type, const Box &box, bool interleaved) {
    std::vector<int64_t> extents, mins;
    for (Range range : box) {
        extents.push_back(range.extent);
        mins.push_back(range.min);
    }
    if (interleaved)
        std::rotate(extents.begin(), extents.end() - 1, extents.end());
    Buffer<> array(type, extents);
    if (interleaved) {
        for (int d = 0; d + 1 < array.dimensions(); ++d)
            array.transpose(d, d + 1);
    }
    array.set_min(mins);
    return array;
}

void fill(const Buffer<> &array, const std::function<double(const Point &)> &value) {
    visit(array, [&]<typename T>(const Buffer<T> &typed) {
        Point p{};
        for (int d = 0; d < array.dimensions(); ++d)
            p[size_t(d)] = int(array.min(d));
        T *first = typed.data();
        for (int64_t i = 0, n = array.number_of_elements(); i < n; ++i, advance(p, array)) {
            first[place(p, array)] = T(value(p));
        }
    });
}

std::vector<Buffer<>> make_inputs(const App &app, const Program &program, Size size) {
    std::vector<Buffer<>> arrays;
    for (size_t i = 0; i < app.inputs.size(); ++i) {
        const Input &input = app.inputs[i];
        arrays.push_back(
            make_array(program.inputs.at(i).type(), input.box(size), input.interleaved));
        fill(arrays.back(), [&](const Point &p) { return input.value(p, size); });
    }
    return arrays;
}

Buffer<> make_output(const App &app, const Program &program, Size size) {
    return make_array(program.output().types().at(0), app.output_box(size), app.interleaved_output);
}

void set_inputs(Program &program, const std::vector<Buffer<>> &inputs) {
    for (size_t i = 0; i < inputs.size(); ++i)
        program.inputs.at(i).set(inputs[i]);
}

Buffer<double> as_doubles(const Buffer<> &array) {
    const Buffer<double> result = Buffer<double>::make_with_shape_of(array);
    visit(array, [&](const auto &typed) {
        result.for_each_value([](double &to, auto from) { to = double(from); }, typed);
    });
    return result;
}

double max_abs(const Buffer<> &a) {
    double largest = 0;
    visit(a, [&](const auto &typed) {
        typed.for_each_value([&](auto v) { largest = std::max(largest, std::abs(double(v))); });
    });
    return largest;
}

double max_abs_difference(const Buffer<> &a, const Buffer<> &b) {
    double largest = 0;
    visit(a, [&]<typename T>(const Buffer<T> &typed) {
        typed.for_each_value(
            [&](T u, T v) {
                const double difference = std::abs(double(u) - double(v));
                const bool one_nan = std::isnan(double(u)) != std::isnan(double(v));
                if (one_nan)
                    largest = std::numeric_limits<double>::infinity();
                if (difference > largest)
                    largest = difference;
            },
            b.as<T>());
    });
    return largest;
}

}  // namespace apps
