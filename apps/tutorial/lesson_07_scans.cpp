// Lesson 7: updates that read earlier results.
//
// An update may read the Func that it changes. The points of an RDom are visited in order, so each
// step can use the result of the previous one: running totals, recursive filters, simulations.

#include "apps/tutorial/lesson.h"

#include <pipe/image_io.h>
#include <pipe/pipe.h>

#include <cmath>

using namespace Pipe;

int main(int argc, char **argv) {
    Var x("x"), y("y"), c("c"), t("t");

    // A running total: 1, 1 + 2, 1 + 2 + 3, ... Element 0 is already correct; the update iterates
    // over 1 .. 9 in this order.
    Func total("total");
    RDom steps(1, 9, "steps");
    total(x) = x + 1;
    total(steps) += total(steps - 1);
    Buffer<int32_t> totals = total.realize({10});
    std::printf("running totals of 1 .. 10:");
    for (int i = 0; i < 10; ++i) {
        std::printf(" %d", totals(i));
        lesson::check(totals(i) == (i + 1) * (i + 2) / 2, "the sum of 1 .. n is n (n + 1) / 2");
    }
    std::printf("\n\n");

    // The game of life, with time as a third dimension. A cell survives if two or three of its
    // eight neighbors live, and is born if exactly three do. The RDom excludes the border of the
    // board, where the first definition applies: 0 except at the start.
    const int size = 8, generations = 5;
    const std::string glider[] = {"........", "..#.....", "...#....", ".###...."};
    Buffer<uint8_t> start(size, size);
    start.fill([&](int i, int j) { return j < 4 && glider[j][size_t(i)] == '#'; });

    Func life("life");
    RDom step(1, size - 2, 1, size - 2, 1, generations - 1, "step");  // x, y, time (outermost)
    life(x, y, t) = select(t == 0, start(x, y), 0);
    Expr neighbors = cast<uint8_t>(0);
    for (int dy = -1; dy <= 1; ++dy)
        for (int dx = -1; dx <= 1; ++dx)
            if (dx != 0 || dy != 0)
                neighbors += life(step.x + dx, step.y + dy, step.z - 1);
    const Expr alive = life(step.x, step.y, step.z - 1) == 1;
    life(step.x, step.y, step.z) = cast<uint8_t>(neighbors == 3 || (alive && neighbors == 2));

    Buffer<uint8_t> cells = life.realize({size, size, generations});
    std::printf("a glider at the times 0 .. %d\n", generations - 1);
    for (int row = 0; row < size; ++row) {
        for (int time = 0; time < generations; ++time) {
            for (int column = 0; column < size; ++column)
                std::printf("%c", cells(column, row, time) ? '#' : '.');
            std::printf("   ");
        }
        std::printf("\n");
    }
    for (int row = 1; row < size; ++row)
        for (int column = 1; column < size; ++column)
            lesson::check(cells(column, row, 4) == cells(column - 1, row - 1, 0),
                          "after four steps the glider has moved by one to the right and down");

    // A recursive filter: each pixel keeps 90 % of the result to its left. One pass to the right
    // and one back give a wide, soft blur with two multiplications per pixel, however wide it is.
    const Buffer<float> photo = convert_image(lesson::picture(), Float(32));
    const int width = photo.width();
    Func smear("smear");
    RDom right(1, width - 1, "right"), left(1, width - 1, "left");
    smear(x, y, c) = photo(x, y, c);
    smear(right, y, c) = 0.9f * smear(right - 1, y, c) + 0.1f * smear(right, y, c);
    const Expr back = width - 1 - left;  // width - 2 .. 0
    smear(back, y, c) = 0.9f * smear(back + 1, y, c) + 0.1f * smear(back, y, c);
    Buffer<float> smeared = smear.realize({width, photo.height(), photo.channels()});
    save_image(convert_image(smeared, UInt(8)),
               lesson::output_file(argc, argv, "lesson_07_smear.png"));

    std::vector<float> row(static_cast<size_t>(width));
    for (int i = 0; i < width; ++i)
        row[size_t(i)] =
            i == 0 ? photo(i, 7, 1) : 0.9f * row[size_t(i - 1)] + 0.1f * photo(i, 7, 1);
    for (int i = width - 2; i >= 0; --i)
        row[size_t(i)] = 0.9f * row[size_t(i + 1)] + 0.1f * row[size_t(i)];
    for (int i = 0; i < width; ++i)
        lesson::check(std::abs(row[size_t(i)] - smeared(i, 7, 1)) < 1e-4f, "the filter, by hand");
}
