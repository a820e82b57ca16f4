// Median of 5×5 pixels.
#include "apps/practice/loops.h"

#include <array>

namespace practice {
namespace {

using namespace Pipe;

/// 64 pixels side by side: one vector of the compiler's.
struct Pixels {
    uint8_t at[64];
};
inline Pixels min(const Pixels &a, const Pixels &b) {
    Pixels result;
    for (int i = 0; i < 64; ++i)
        result.at[i] = std::min(a.at[i], b.at[i]);
    return result;
}
inline Pixels max(const Pixels &a, const Pixels &b) {
    Pixels result;
    for (int i = 0; i < 64; ++i)
        result.at[i] = std::max(a.at[i], b.at[i]);
    return result;
}

template <typename T> inline void exchange(T &a, T &b) {
    T less = min(a, b), more = max(a, b);
    a = less, b = more;
}

/// The median of 25 values, by exchanges that do not depend on the data: of a set of 14, the least and
/// the greatest cannot be the median; without them, and with the next value, the set has 13; and so on.
template <typename T> inline T median_of_25(std::array<T, 25> v) {
    int first = 0, last = 13;  // of the set
    for (;; ++first) {
        const int count = last - first + 1;
        for (int i = 0; i < count / 2; ++i)
            exchange(v[size_t(first + i)], v[size_t(last - i)]);
        for (int i = first + 1; i < first + (count + 1) / 2; ++i)
            exchange(v[size_t(first)], v[size_t(i)]);
        for (int i = last - 1; i > last - (count + 1) / 2; --i)
            exchange(v[size_t(i)], v[size_t(last)]);
        if (count <= 3)
            return v[size_t(first + 1)];
        v[size_t(last)] = v[size_t(28 - count)];  // 14, 15, .. 24
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
        for (ptrdiff_t x = 0; x < width; x += 64) {
            const ptrdiff_t count = std::min<ptrdiff_t>(64, width - x);
            std::array<Pixels, 25> window;
            for (int i = 0; i < 25; ++i) {
                const uint8_t *from = in + (y + i / 5) * padded + x + i % 5;
                std::copy(from, from + count, window[size_t(i)].at);
            }
            const Pixels result = median_of_25(window);
            std::copy(result.at, result.at + count, out + y * width + x);
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
