// Row by row, from networks that work on language: rotary embedding after normalization, and the most likely token.
#include "apps/practice/loops.h"

namespace practice {
namespace {

using namespace Pipe;

constexpr int head = 128, half = head / 2;

/// Heads of 128 values of each position: divided by their root mean square, and rotated in pairs by angles that grow
/// with the position.
Program rotary() {
    ImageParam in(Float(32), 3, "in"), gain(Float(32), 1, "gain");
    ImageParam cosines(Float(32), 2, "cosines"), sines(Float(32), 2, "sines");
    Var d("d"), h("h"), t("t");
    RDom r(0, head, "r");
    Func scale("scale"), normal("normal"), out("rotary");
    scale(h, t) = 1.0f / sqrt(sum(in(r, h, t) * in(r, h, t)) / float(head) + 1e-5f);
    normal(d, h, t) = in(d, h, t) * scale(h, t) * gain(d);
    const Expr first = normal(d, h, t) * cosines(d, t) - normal(d + half, h, t) * sines(d, t);
    const Expr second =
        normal(d, h, t) * cosines(d - half, t) + normal(d - half, h, t) * sines(d - half, t);
    out(d, h, t) = select(d < half, first, second);
    return {{in, gain, cosines, sines}, out};
}

void rotary_loops(const Arrays &arrays, Size size) {
    const float *in = arrays.in<float>(0), *gain = arrays.in<float>(1);
    const float *cosines = arrays.in<float>(2), *sines = arrays.in<float>(3);
    float *out = arrays.out<float>();
#pragma omp parallel for
    for (ptrdiff_t t = 0; t < size.width; ++t) {
        const float *c = cosines + t * half, *s = sines + t * half;
        for (ptrdiff_t h = 0; h < size.height; ++h) {
            const float *x = in + (t * size.height + h) * head;
            float *to = out + (t * size.height + h) * head;
            float square = 0;
            for (int d = 0; d < head; ++d)
                square += x[d] * x[d];
            const float scale = 1 / std::sqrt(square / head + 1e-5f);
#pragma omp simd
            for (int d = 0; d < half; ++d) {
                const float a = x[d] * scale * gain[d], b = x[d + half] * scale * gain[d + half];
                to[d] = a * c[d] - b * s[d];
                to[d + half] = b * c[d] + a * s[d];
            }
        }
    }
}

Box heads(Size s) {
    return {{0, head}, {0, s.height}, {0, s.width}};
}
Box one_head(Size) {
    return {{0, head}};
}
Box angles(Size s) {
    return {{0, half}, {0, s.width}};
}
double angle(const Point &p) {
    return p[1] * std::pow(10000.0, -p[0] / double(half));
}
double cosine(const Point &p, Size) {
    return std::cos(angle(p));
}
double sine(const Point &p, Size) {
    return std::sin(angle(p));
}

Program argmax_of_rows() {
    ImageParam in(Float(32), 2, "in");
    Var y("y"), c("c");
    RDom r(0, in.width(), "r");
    Func best("best"), out("argmax");
    best(y) = argmax(in(r, y));
    out(y, c) = mux(c, {cast<float>(best(y)[0]), best(y)[1]});
    return {{in}, out};
}

using Ints [[gnu::vector_size(vector_bytes), gnu::aligned(4), gnu::may_alias]] = int;

// GCC does not vectorize the search for a place: two vectors of the best values and of their places.
void argmax_of_rows_loops(const Arrays &arrays, Size size) {
    const float *in = arrays.in<float>(0);
    float *out = arrays.out<float>();
    constexpr int lanes = vector_bytes / int(sizeof(float)), step = 2 * lanes;
#pragma omp parallel for
    for (ptrdiff_t y = 0; y < size.height; ++y) {
        const float *row = in + y * size.width;
        int at = 0, x = 1;
        if (size.width >= step) {
            Floats best[2];
            Ints where[2], here[2] = {};
            for (int i = 0; i < step; ++i)
                here[i / lanes][i % lanes] = i;
            for (int v = 0; v < 2; ++v) {
                best[v] = *reinterpret_cast<const Floats *>(row + v * lanes);
                where[v] = here[v];
            }
            for (x = step; x + step <= size.width; x += step) {
                for (int v = 0; v < 2; ++v) {
                    const Floats now = *reinterpret_cast<const Floats *>(row + x + v * lanes);
                    here[v] += step;
                    where[v] = now > best[v] ? here[v] : where[v];
                    best[v] = now > best[v] ? now : best[v];
                }
            }
            for (int i = 0; i < step; ++i) {
                const int place = where[i / lanes][i % lanes];
                if (row[place] > row[at] || (row[place] == row[at] && place < at))
                    at = place;
            }
        }
        for (; x < size.width; ++x)
            if (row[x] > row[at])
                at = x;
        out[y] = float(at);
        out[size.height + y] = row[at];
    }
}

Box places(Size s) {
    return {{0, s.height}, {0, 2}};
}

}  // namespace

std::vector<Practice> networks_practices() {
    return {{.name = "rotary",
             .title = "normalization and rotary embedding of heads of 128 (positions × heads)",
             .make = rotary,
             .loops = rotary_loops,
             .inputs =
                 {{heads, signed_value}, {one_head, unit_value}, {angles, cosine}, {angles, sine}},
             .output = heads,
             .tolerance = 1e-4,
             .size = {8192, 8},
             .small = {{7, 3}, {33, 1}}},
            {.name = "argmax",
             .title = "largest value of each row and its place",
             .make = argmax_of_rows,
             .loops = argmax_of_rows_loops,
             .inputs = {{apps::plane, signed_value}},
             .output = places,
             .size = {1000, 16384},
             .small = apps::awkward_sizes()}};
}

}  // namespace practice
