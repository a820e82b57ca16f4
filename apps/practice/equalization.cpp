// Histogram equalization: of the whole picture, and adaptive with limited contrast (CLAHE).
#include "apps/practice/loops.h"

#include <array>

namespace practice {
namespace {

using namespace Pipe;

Program equalize() {
    ImageParam in(UInt(8), 2, "in");
    Var x("x"), y("y"), b("b");
    RDom r(0, in.width(), 0, in.height(), "r"), rb(1, 255, "rb");
    Func histogram("histogram"), below("below"), table("table"), out("equalize");
    histogram(b) = 0;
    histogram(in(r.x, r.y)) += 1;
    below(b) = histogram(b);
    below(rb) += below(rb - 1);
    table(b) = cast<uint8_t>(below(b) * 255.0f / cast<float>(in.width() * in.height()));
    out(x, y) = table(in(x, y));
    return {{in}, out};
}

void equalize_loops(const Arrays &arrays, Size size) {
    const uint8_t *in = arrays.in<uint8_t>(0);
    uint8_t *out = arrays.out<uint8_t>();
    const ptrdiff_t pixels = ptrdiff_t(size.width) * size.height;
    int histogram[256] = {};
#pragma omp parallel
    {
        int own[4][256] = {};  // equal pixels that follow each other count in different tables
#pragma omp for nowait
        for (ptrdiff_t i = 0; i < pixels / 4; ++i) {
            for (int j = 0; j < 4; ++j)
                own[j][in[4 * i + j]]++;
        }
#pragma omp critical
        for (int b = 0; b < 256; ++b)
            histogram[b] += own[0][b] + own[1][b] + own[2][b] + own[3][b];
    }
    for (ptrdiff_t i = pixels / 4 * 4; i < pixels; ++i)
        histogram[in[i]]++;
    uint8_t table[256];
    for (int b = 0, below = 0; b < 256; ++b) {
        below += histogram[b];
        table[b] = uint8_t(float(below) * 255.0f / float(pixels));
    }
#pragma omp parallel for
    for (ptrdiff_t i = 0; i < pixels; ++i)
        out[i] = table[in[i]];
}

// CLAHE: tiles of 64×64 pixels, the last ones with repeated edges.
constexpr int tile = 64, limit = 3 * tile * tile / 256;

Expr tiles(const Expr &extent) {
    return (extent + tile - 1) / tile;
}

Program clahe() {
    ImageParam in(UInt(8), 2, "in");
    Var x("x"), y("y"), b("b"), tx("tx"), ty("ty");
    RDom r(0, tile, 0, tile, "r"), bins(0, 256, "bins"), rb(1, 255, "rb");
    const Func picture = BoundaryConditions::repeat_edge(in);
    Func histogram("histogram"), clipped("clipped"), excess("excess"), below("below"),
        table("table"), out("clahe");
    histogram(b, tx, ty) = 0;
    histogram(picture(tx * tile + r.x, ty * tile + r.y), tx, ty) += 1;
    clipped(b, tx, ty) = min(histogram(b, tx, ty), limit);
    excess(tx, ty) = tile * tile - sum(clipped(bins, tx, ty));
    below(b, tx, ty) = clipped(b, tx, ty);
    below(rb, tx, ty) += below(rb - 1, tx, ty);
    const Expr level = below(b, tx, ty) + excess(tx, ty) * (b + 1) / 256;
    table(b, tx, ty) = cast<uint8_t>(level * 255 / (tile * tile));

    // bilinear between the tables of the four tiles whose centers surround the pixel
    const Expr u = x + tile / 2, v = y + tile / 2, wx = u % tile, wy = v % tile;
    const Expr last_x = tiles(in.width()) - 1, last_y = tiles(in.height()) - 1;
    const Expr left = clamp(u / tile - 1, 0, last_x), right = clamp(u / tile, 0, last_x);
    const Expr top = clamp(v / tile - 1, 0, last_y), bottom = clamp(v / tile, 0, last_y);
    auto at = [&](const Expr &i, const Expr &j) { return cast<int>(table(in(x, y), i, j)); };
    const Expr upper = at(left, top) * (tile - wx) + at(right, top) * wx;
    const Expr lower = at(left, bottom) * (tile - wx) + at(right, bottom) * wx;
    out(x, y) = cast<uint8_t>((upper * (tile - wy) + lower * wy + tile * tile / 2) / (tile * tile));
    return {{in}, out};
}

using Table = std::array<uint8_t, 256>;

Table table_of_tile(const uint8_t *in, Size size, int tx, int ty) {
    int histogram[256] = {};
    for (int j = ty * tile; j < (ty + 1) * tile; ++j) {
        const uint8_t *row = in + std::min(j, size.height - 1) * ptrdiff_t(size.width);
        for (int i = tx * tile; i < (tx + 1) * tile; ++i)
            histogram[row[std::min(i, size.width - 1)]]++;
    }
    int excess = tile * tile;
    for (int &count : histogram) {
        count = std::min(count, limit);
        excess -= count;
    }
    Table table;
    for (int b = 0, below = 0; b < 256; ++b) {
        below += histogram[b];
        table[size_t(b)] = uint8_t((below + excess * (b + 1) / 256) * 255 / (tile * tile));
    }
    return table;
}

void clahe_loops(const Arrays &arrays, Size size) {
    const uint8_t *in = arrays.in<uint8_t>(0);
    uint8_t *out = arrays.out<uint8_t>();
    const int across = (size.width + tile - 1) / tile, down = (size.height + tile - 1) / tile;
    std::vector<Table> tables(size_t(across) * size_t(down));
#pragma omp parallel for collapse(2)
    for (int ty = 0; ty < down; ++ty) {
        for (int tx = 0; tx < across; ++tx)
            tables[size_t(ty * across + tx)] = table_of_tile(in, size, tx, ty);
    }
#pragma omp parallel for
    for (int y = 0; y < size.height; ++y) {
        const int v = y + tile / 2, wy = v % tile;
        const int top = std::clamp(v / tile - 1, 0, down - 1) * across;
        const int bottom = std::clamp(v / tile, 0, down - 1) * across;
        const ptrdiff_t row = y * ptrdiff_t(size.width);
        for (int start = 0; start < size.width + tile / 2; start += tile) {  // of u below
            const size_t left = size_t(std::clamp(start / tile - 1, 0, across - 1));
            const size_t right = size_t(std::clamp(start / tile, 0, across - 1));
            const Table &a = tables[size_t(top) + left], &b = tables[size_t(top) + right],
                        &c = tables[size_t(bottom) + left], &d = tables[size_t(bottom) + right];
            const int end = std::min(start + tile / 2, size.width);
            for (int x = std::max(start - tile / 2, 0); x < end; ++x) {
                const int wx = x + tile / 2 - start;
                const size_t value = in[row + x];
                const int upper = a[value] * (tile - wx) + b[value] * wx;
                const int lower = c[value] * (tile - wx) + d[value] * wx;
                out[row + x] =
                    uint8_t((upper * (tile - wy) + lower * wy + tile * tile / 2) / (tile * tile));
            }
        }
    }
}

/// Dark, with little contrast.
double dull(const Point &p, Size) {
    return 20 + (apps::u8(p[0], p[1], 0) / 4 + apps::u8(p[0] / 32, p[1] / 32, 1) / 2) / 2;
}

}  // namespace

std::vector<Practice> equalization_practices() {
    return {{.name = "equalize",
             .title = "histogram equalization, uint8",
             .make = equalize,
             .loops = equalize_loops,
             .inputs = {{apps::plane, dull}},
             .output = apps::plane,
             .size = {4096, 3072},
             .small = apps::awkward_sizes()},
            {.name = "clahe",
             .title = "CLAHE, tiles of 64×64, uint8",
             .make = clahe,
             .loops = clahe_loops,
             .inputs = {{apps::plane, dull}},
             .output = apps::plane,
             .size = {2048, 1536},
             .small = apps::awkward_sizes()}};
}

}  // namespace practice
