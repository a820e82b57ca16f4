// Lesson 10: schedules I, the loops of one Func.
//
// You learn to change the loops of a Func: their order, which of them run on all cores (parallel),
// which process several pixels per instruction (vectorize), and how to work in blocks (tile). The
// program prints the loops and the time of each schedule; the result is always the same.

#include "apps/tutorial/lesson.h"

#include <pipe/pipe.h>

#include <functional>
#include <iostream>

using namespace Pipe;

namespace {

const int width = 1501, height = 1003;  // odd on purpose: every schedule works for every size
Var x("x"), y("y"), xi("xi"), yi("yi");

/// A new Func each time: the mean of 3 x 3 pixels.
Func blur_of(const Buffer<uint16_t> &input) {
    Func blurred("blurred");
    Expr total = cast<uint16_t>(0);
    for (int dy = 0; dy < 3; ++dy)
        for (int dx = 0; dx < 3; ++dx)
            total += input(x + dx, y + dy);
    blurred(x, y) = total / 9;
    return blurred;
}

}  // namespace

int main() {
    Buffer<uint16_t> input(width + 2, height + 2);
    input.fill([](int i, int j) { return uint16_t((i * i + 7 * i * j + 3 * j) & 4095); });
    Buffer<uint16_t> expected = blur_of(input).realize({width, height}), result(width, height);

    const auto measure = [&](const char *what, const std::function<void(Func)> &schedule) {
        Func blurred = blur_of(input);
        schedule(blurred);
        Pipeline pipeline(blurred);
        const double ms = lesson::milliseconds([&] { pipeline.realize(result); });
        std::cout << what << "\n" << pipeline.loop_nest();
        std::printf("%.2f ms\n\n", ms);
        int different = 0;
        result.for_each_value([&](uint16_t a, uint16_t b) { different += a != b; }, expected);
        lesson::check(different == 0, "a schedule does not change the result");
        return pipeline.loop_nest();
    };

    // Without a schedule: rows from top to bottom, each from left to right, one pixel at a time.
    measure("as defined", [](Func) {});

    // reorder lists the loops from the innermost to the outermost. Going down the columns is slow:
    // pixels that are adjacent in memory are then visited far apart in time.
    measure("reorder(y, x)", [](Func f) { f.reorder(y, x); });

    // vectorize splits the loop over x: the new inner loop over 16 pixels becomes one instruction
    // (or a few, if the machine's vectors are shorter). If 16 does not divide the width, the last
    // vector is shifted left to end at the edge, so a few pixels are computed twice.
    measure("vectorize(x, 16)", [](Func f) { f.vectorize(x, 16); });

    // parallel distributes the iterations of a loop over the cores. Choose an outer loop, so that
    // each iteration is enough work to be worth the overhead.
    measure("vectorize(x, 16).parallel(y)", [](Func f) { f.vectorize(x, 16).parallel(y); });

    // tile divides the picture into blocks: x and y now count blocks of 256 x 32, xi and yi the
    // pixels inside a block. This is useful if the data of a block is used several times while it
    // is still in the cache, as in the next lesson; for this simple Func it makes little
    // difference.
    const std::string tiled =
        measure("tile(x, y, xi, yi, 256, 32).vectorize(xi, 16).parallel(y)",
                [](Func f) { f.tile(x, y, xi, yi, 256, 32).vectorize(xi, 16).parallel(y); });
    lesson::check(tiled == "produce blurred:\n"
                           "  parallel y:\n"
                           "    for x:\n"
                           "      for yi:\n"
                           "        for xi:\n"
                           "          vectorized xi_lane:\n"
                           "            blurred(x, y) = ...\n",
                  "the loops are as requested, outermost first");
}
