#include "apps/bench/array.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <new>
#include <stdexcept>

namespace bench {
namespace {

/// Calls f with the elements of the array as the C++ type that they have.
template <typename F>
auto visit(const Array &a, F &&f) {
    if (a.element() == Element::Float && a.bits() == 32) return f(static_cast<float *>(a.data()));
    if (a.element() == Element::Unsigned && a.bits() == 16) return f(static_cast<uint16_t *>(a.data()));
    if (a.element() == Element::Unsigned && a.bits() == 8) return f(static_cast<uint8_t *>(a.data()));
    throw std::logic_error("bench: an array of a type that no application has");
}

apps::Range dimension(const apps::Box &box, size_t d) {
    return d < box.size() ? box[d] : apps::Range{0, 1};
}

} // namespace

Array::Array(Element element, int bits, apps::Box box)
    : element_(element), bits_(bits), box_(std::move(box)) {
    constexpr int64_t line = 64;
    // room behind the last element: a kernel may read a whole vector there
    const int64_t bytes = (this->bytes() + line - 1) / line * line + line;
    storage_.reset(std::aligned_alloc(line, size_t(bytes)));
    if (!storage_) throw std::bad_alloc();
}

int64_t Array::size() const {
    int64_t n = 1;
    for (apps::Range r : box_) n *= r.extent;
    return n;
}

void Array::fill(const std::function<double(int, int, int)> &pixel) {
    visit(*this, [&]<typename T>(T *p) {
        const apps::Range xs = dimension(box_, 0), ys = dimension(box_, 1), cs = dimension(box_, 2);
        for (int c = cs.min; c < cs.min + cs.extent; ++c) {
            for (int y = ys.min; y < ys.min + ys.extent; ++y) {
                for (int x = xs.min; x < xs.min + xs.extent; ++x) *p++ = T(pixel(x, y, c));
            }
        }
    });
}

void Array::clear() { std::memset(data(), 0xff, size_t(bytes())); }

Array Array::copy() const {
    Array other(element_, bits_, box_);
    std::memcpy(other.data(), data(), size_t(bytes()));
    return other;
}

double Array::at(int64_t index) const {
    return visit(*this, [&](auto *p) { return double(p[index]); });
}

double max_abs_difference(const Array &a, const Array &b) {
    double largest = 0;
    for (int64_t i = 0, n = a.size(); i < n; ++i) {
        const double u = a.at(i), v = b.at(i);
        if (std::isnan(u) && std::isnan(v)) continue;
        if (std::isnan(u) || std::isnan(v)) return std::numeric_limits<double>::infinity();
        largest = std::max(largest, std::abs(u - v));
    }
    return largest;
}

double max_abs(const Array &a) {
    double largest = 0;
    for (int64_t i = 0, n = a.size(); i < n; ++i) largest = std::max(largest, std::abs(a.at(i)));
    return largest;
}

} // namespace bench
