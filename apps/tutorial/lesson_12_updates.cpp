// Lesson 12: schedules for reductions.
//
// Each definition of a Func has its own loops: the first one, update(0), update(1), ... You learn
// to schedule an update: to traverse memory in order, and to use all cores.

#include "apps/tutorial/lesson.h"

#include <pipe/pipe.h>

#include <functional>
#include <iostream>

using namespace Pipe;

namespace {

const int width = 1024, height = 1000;
Var x("x"), y("y");
RDom rows(0, height, "rows");

/// The sum of each column.
Func column_sums(const Buffer<uint16_t> &input) {
    Func total("total");
    total(x) = cast<uint32_t>(0);
    total(x) += cast<uint32_t>(input(x, rows));
    return total;
}

}  // namespace

int main() {
    Buffer<uint16_t> input(width, height);
    input.fill([](int i, int j) { return uint16_t((i * i + 7 * i * j + 3 * j) & 4095); });

    const auto measure = [&](const char *what, const std::function<void(Func)> &schedule) {
        Func total = column_sums(input);
        schedule(total);
        Buffer<uint32_t> result(width);
        const double ms = lesson::milliseconds([&] { total.realize(result); });
        const std::string loops = Pipeline(total).loop_nest();
        std::cout << what << "\n" << loops;
        std::printf("%.2f ms\n\n", ms);
        for (int i = 0; i < width; ++i) {
            uint32_t sum = 0;
            for (int j = 0; j < height; ++j)
                sum += input(i, j);
            lesson::check(result(i) == sum, "the sum of each column");
        }
        return loops;
    };

    // By default, the loops of an update's RDom are inside those of its Vars. Here this means going
    // down one column after the other, contrary to the order in memory.
    measure("as defined", [](Func) {});

    // Row by row instead, eight columns per instruction. Directives on the Func itself apply to its
    // first definition, those on update(0) to the first update.
    const std::string reordered = measure("update(0).reorder(x, rows).vectorize(x, 8)", [](Func f) {
        f.vectorize(x, 8);
        f.update(0).reorder(x, rows).vectorize(x, 8);
    });
    lesson::check(lesson::contains(reordered, "produce total.update(0):\n"
                                              "  for rows$x:\n"
                                              "    for x:\n"
                                              "      vectorized x_lane:\n"
                                              "        total(x) = ...\n"),
                  "the loop over the first dimension of rows is the outer one now");

    // Columns are independent of each other, so blocks of them may run on different cores.
    Var xo("xo");
    measure("update(0).split(x, xo, x, 256).reorder(x, rows, xo).vectorize(x, 8).parallel(xo)",
            [&](Func f) {
                f.update(0).split(x, xo, x, 256).reorder(x, rows, xo).vectorize(x, 8).parallel(xo);
            });
}
