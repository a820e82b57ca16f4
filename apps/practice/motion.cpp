// Block matching, as for stabilizing or coding video: of each block of 16×16 pixels, where it was in the previous frame.
#include "apps/practice/loops.h"

#include <cstdlib>
#include <cstring>

namespace practice {
namespace {

using namespace Pipe;

constexpr int side = 16, reach = 7, places = 2 * reach + 1;  // of a block; displacements

Program motion() {
    ImageParam current(UInt(8), 2, "current"), previous(UInt(8), 2, "previous");
    Var dx("dx"), dy("dy"), bx("bx"), by("by");
    RDom p(0, side, 0, side, "p"), d(-reach, places, -reach, places, "d");
    const Expr x = side * bx + p.x, y = side * by + p.y;
    Func distance("distance"), best("best"), out("motion");
    distance(dx, dy, bx, by) = sum(cast<uint16_t>(absd(current(x, y), previous(x + dx, y + dy))));
    best(bx, by) = argmin(d, distance(d.x, d.y, bx, by));
    out(bx, by) = cast<uint8_t>((best(bx, by)[1] + reach) * places + best(bx, by)[0] + reach);
    return {{current, previous}, out};
}

// (GCC makes it a sum of absolute differences per row.)
[[gnu::noinline]] int distance_between(const uint8_t *block, const uint8_t *at, ptrdiff_t row) {
    int sum = 0;
    for (int j = 0; j < side; ++j)
        for (int i = 0; i < side; ++i)
            sum += std::abs(block[side * j + i] - at[j * row + i]);
    return sum;
}

void motion_loops(const Arrays &arrays, Size size) {
    const uint8_t *current = arrays.in<uint8_t>(0), *previous = arrays.in<uint8_t>(1);
    uint8_t *out = arrays.out<uint8_t>();
    const ptrdiff_t blocks = size.width, row = side * blocks, wide = row + 2 * reach;
#pragma omp parallel for
    for (ptrdiff_t by = 0; by < size.height; ++by) {
        for (ptrdiff_t bx = 0; bx < blocks; ++bx) {
            uint8_t block[side * side];
            for (int j = 0; j < side; ++j)
                std::memcpy(block + side * j, current + (side * by + j) * row + side * bx, side);
            int least = 1 << 30, best = 0;
            for (int dy = 0; dy < places; ++dy) {
                for (int dx = 0; dx < places; ++dx) {
                    const uint8_t *at = previous + (side * by + dy) * wide + side * bx + dx;
                    const int now = distance_between(block, at, wide);
                    if (now < least)
                        least = now, best = dy * places + dx;
                }
            }
            out[by * blocks + bx] = uint8_t(best);
        }
    }
}

Box frame(Size s) {
    return {{0, side * s.width}, {0, side * s.height}};
}
Box searched(Size s) {
    return {{-reach, side * s.width + 2 * reach}, {-reach, side * s.height + 2 * reach}};
}

}  // namespace

std::vector<Practice> motion_practices() {
    return {{.name = "motion",
             .title = "block matching, 16×16, ±7, uint8 (blocks)",
             .make = motion,
             .loops = motion_loops,
             .inputs = {{frame, byte_value}, {searched, byte_value}},
             .output = apps::plane,
             .size = {120, 68},
             .small = {{1, 1}, {7, 2}, {3, 5}}}};
}

}  // namespace practice
