#include "fuzz/pixels.h"

#include <cmath>
#include <cstring>

namespace Pipe::fuzz {

double points(const Box &box) {
    double product = 1;
    for (const Interval &v : box)
        product *= v.extent();
    return product;
}

GuardedBuffer allocate(Type type, const Box &box, Choices &choices, bool any_layout) {
    std::vector<size_t> order;  // innermost dimension first
    for (size_t d = 0; d < box.size(); d++) {
        size_t back = any_layout ? static_cast<size_t>(choices.below(static_cast<int>(d) + 1)) : 0;
        order.insert(order.end() - static_cast<long>(back), d);
    }
    std::vector<std::pair<int, int>> shape;
    if (any_layout)
        shape.emplace_back(0, choices.of<int>({1, 1, 2, 3}));
    for (size_t d : order)
        shape.emplace_back(box[d].low, box[d].extent());
    int padding = choices.chance(25) ? choices.between(1, 5) : 0;
    GuardedBuffer result(type, shape, padding, choices.chance(30));
    if (!any_layout)
        return result;
    result.buffer.slice(0, choices.below(shape[0].second));
    const BufferView view = result.buffer.view();
    auto *host = static_cast<unsigned char *>(view.host);
    std::vector<BufferDim> dims(box.size());
    for (size_t i = 0; i < order.size(); i++) {
        BufferDim &dim = dims[order[i]] = view.dims[i];
        if (choices.chance(20)) {
            host += (dim.extent - 1) * dim.stride * type.bytes();
            dim.stride = -dim.stride;
        }
    }
    result.buffer = Buffer<void>(type, host, dims);
    return result;
}

namespace {

/// Calls f(address, number) for each element.
template <typename F> void for_each_element(const Buffer<void> &buffer, F &&f) {
    const BufferView &view = buffer.view();
    uint64_t number = 0;
    detail::for_each_coordinate(view.dims, [&](const int64_t *at) {
        int64_t offset = 0;
        for (size_t d = 0; d < view.dims.size(); d++)
            offset += (at[d] - view.dims[d].min) * view.dims[d].stride;
        f(static_cast<unsigned char *>(view.host) + offset * view.type.bytes(), number++, at);
    });
}

double element(Type type, const unsigned char *address) {
    auto read = [&](auto value) {
        std::memcpy(&value, address, sizeof(value));
        return static_cast<double>(value);
    };
    if (type.is_float())
        return type.bits() == 64 ? read(double()) : read(float());
    switch (type.bits() * (type.is_int() ? -1 : 1)) {
    case 8:
        return read(uint8_t());
    case 16:
        return read(uint16_t());
    case 32:
        return read(uint32_t());
    case 64:
        return read(uint64_t());
    case -64:
        return read(int64_t());
    case -8:
        return read(int8_t());
    case -16:
        return read(int16_t());
    default:
        return read(int32_t());
    }
}

}  // namespace

void fill(const Buffer<void> &buffer, uint64_t salt) {
    Type type = buffer.type();
    for_each_element(buffer, [&](unsigned char *address, uint64_t number, const int64_t *) {
        uint64_t h = (number + 1) * 0x9e3779b97f4a7c15 + salt * 0xbf58476d1ce4e5b9;
        h = (h ^ (h >> 29)) * 0x94d049bb133111eb;
        h ^= h >> 32;
        if (type.is_float()) {
            auto value = static_cast<double>(static_cast<int>(h % 511) - 255);
            auto single = static_cast<float>(value);
            std::memcpy(address, type.bits() == 64 ? static_cast<void *>(&value) : &single,
                        static_cast<size_t>(type.bytes()));
            return;
        }
        int64_t span = type.bits() == 8 ? 256 : type.is_int() ? 2001 : 1001;
        auto value = static_cast<int64_t>(h % static_cast<uint64_t>(span));
        if (type.is_int())
            value -= span / 2;
        std::memcpy(address, &value, static_cast<size_t>(type.bytes()));
    });
}

std::string difference(const std::string &name, const GuardedBuffer &got,
                       const GuardedBuffer &expected, double tolerance) {
    std::string text;
    int differ = 0;
    Type type = got.buffer.type();
    std::vector<const unsigned char *> values;
    for_each_element(expected.buffer, [&](unsigned char *address, uint64_t, const int64_t *) {
        values.push_back(address);
    });
    for_each_element(got.buffer, [&](unsigned char *address, uint64_t number, const int64_t *at) {
        // As bytes first: 64 bits are more than a double holds.
        if (std::memcmp(address, values[number], static_cast<size_t>(type.bytes())) == 0)
            return;
        double a = element(type, address), b = element(type, values[number]);
        if (type.is_float() && (a == b || std::fabs(a - b) <= tolerance))
            return;
        if (++differ > 1)
            return;
        text = name + "(";
        for (int d = 0; d < got.buffer.dimensions(); d++)
            text += (d ? ", " : "") + std::to_string(at[d]);
        text += ") is " + std::to_string(a) + ", expected " + std::to_string(b);
    });
    if (differ)
        return text + "; " + std::to_string(differ) + " elements differ";
    if (!got.padding_intact())
        return name + ": memory between the rows was overwritten";
    return "";
}

}  // namespace Pipe::fuzz
