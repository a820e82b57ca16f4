// Median of 5×5 pixels.
#include "apps/practice/loops.h"

#include <array>
#include <cstring>

namespace practice {
namespace {

using namespace Pipe;

/// Pixels side by side, in a vector of the compiler's.
using Pixels [[gnu::vector_size(vector_bytes)]] = uint8_t;
inline Pixels min(const Pixels &a, const Pixels &b) {
    return a < b ? a : b;
}
inline Pixels max(const Pixels &a, const Pixels &b) {
    return a < b ? b : a;
}

inline void load(const uint8_t *from, ptrdiff_t count, Pixels &to) {
    if (count == sizeof to)
        std::memcpy(&to, from, sizeof to);  // one instruction
    else
        std::memcpy(&to, from, size_t(count));
}

template <typename T> inline void exchange(T &a, T &b) {
    T less = min(a, b), more = max(a, b);
    a = less, b = more;
}

/// The median of 25 values, by exchanges that do not depend on the data. Of 14 values, the least and the
/// greatest cannot be the median; without these two, and with the next value, there are 13; and so on.
template <int count = 14, typename T> inline T median_of_25(std::array<T, 25> &v) {
    constexpr int last = 13, first = last + 1 - count;
#pragma GCC unroll 7
    for (int i = 0; i < count / 2; ++i)
        exchange(v[size_t(first + i)], v[size_t(last - i)]);
#pragma GCC unroll 7
    for (int i = 1; i < (count + 1) / 2; ++i) {
        exchange(v[size_t(first)], v[size_t(first + i)]);
        exchange(v[size_t(last - i)], v[size_t(last)]);
    }
    if constexpr (count == 3) {
        return v[size_t(first + 1)];
    } else {
        v[size_t(last)] = v[size_t(28 - count)];  // 14, 15, .. 24
        return median_of_25<count - 1>(v);
    }
}

Program median() {
    ImageParam in(UInt(8), 2, "in");
    Var x("x"), y("y");
    std::array<Expr, 25> window;
    for (int i = 0; i < 25; ++i)
        window[size_t(i)] = in(x + i % 5, y + i / 5);
    Func out("median");
    out(x, y) = median_of_25(window);
    return {{in}, out};
}

void median_loops(const Arrays &arrays, Size size) {
    const uint8_t *in = arrays.in<uint8_t>(0);
    uint8_t *out = arrays.out<uint8_t>();
    const ptrdiff_t width = size.width, padded = width + 4;
#pragma omp parallel for
    for (int y = 0; y < size.height; ++y) {
        for (ptrdiff_t x = 0; x < width; x += vector_bytes) {
            const ptrdiff_t count = std::min<ptrdiff_t>(vector_bytes, width - x);
            std::array<Pixels, 25> window;
            for (int i = 0; i < 25; ++i)
                load(in + (y + i / 5) * padded + x + i % 5, count, window[size_t(i)]);
            const Pixels result = median_of_25(window);
            std::memcpy(out + y * width + x, &result, size_t(count));
        }
    }
}

}  // namespace

std::vector<Practice> median_practices() {
    return {{.name = "median",
             .title = "median 5×5, uint8",
             .make = median,
             .loops = median_loops,
             .inputs = {{padded<2>, byte_value}},
             .output = apps::plane,
             .size = {2048, 1536},
             .small = {{1, 1}, {7, 5}, {65, 37}}}};
}

}  // namespace practice
