// Lesson 13: one sum on all cores.
//
// All steps of a sum change the same element, so they cannot simply run at the same time. You learn
// when Pipe splits a sum by itself, how to do it by hand with rfactor, and when it is impossible.

#include "apps/tutorial/lesson.h"

#include <pipe/pipe.h>

#include <cmath>
#include <iostream>

using namespace Pipe;

int main() {
    const int width = 1024, height = 1000;
    Buffer<uint16_t> input(width, height);
    input.fill([](int i, int j) { return uint16_t((i * i + 7 * i * j + 3 * j) & 4095); });
    RDom all(0, width, 0, height, "all");

    // Integers give the same sum in any order. So the loop over the rows may be parallel: each part
    // of the rows is summed separately, and finally these sums are added.
    Func whole("whole");
    whole() = cast<uint32_t>(0);
    whole() += cast<uint32_t>(input(all.x, all.y));
    whole.update(0).parallel(all.y);
    std::cout << "a sum of integers, with update(0).parallel(all.y)\n"
              << Pipeline(whole).loop_nest();
    Buffer<uint32_t> sum = whole.realize();

    uint32_t expected = 0;
    input.for_each_value([&](uint16_t value) { expected += value; });
    std::printf("%u\n", sum());
    lesson::check(sum() == expected, "the sum of all elements");

    // Floats are rounded at each step, so another order gives a slightly different sum. Pipe does
    // not do this implicitly.
    Func floats("floats");
    floats() = 0.0f;
    floats() += cast<float>(input(all.x, all.y));
    try {
        Func refused("refused");
        refused() = 0.0f;
        refused() += cast<float>(input(all.x, all.y));
        refused.update(0).parallel(all.y);
        refused.realize();
        lesson::check(false, "a sum of floats is not regrouped without being asked for");
    } catch (const CompileError &error) {
        std::printf("\nof floats: %s\n", error.what());
        lesson::check(lesson::contains(error.what(), "rfactor"), "the message says what to do");
    }

    // rfactor splits the sum: a new Func contains the sum of each row, with a loop over rows that
    // can be scheduled like any other. The old Func then only adds these.
    Var row("row");
    Func row_sums = floats.update(0).rfactor(all.y, row);
    row_sums.compute_root().update(0).parallel(row);
    std::cout << "\nof floats, with update(0).rfactor(all.y, row)\n"
              << Pipeline(floats).loop_nest();
    Buffer<float> float_sum = floats.realize();
    std::printf("%.0f\n", float_sum());
    lesson::check(std::abs(float_sum() / float(expected) - 1) < 1e-5f, "the same, up to rounding");

    // If each step needs the previous one, this is impossible.
    try {
        Func total("total");
        Var x("x");
        RDom steps(1, 9, "steps");
        total(x) = x + 1;
        total(steps) += total(steps - 1);
        total.update(0).parallel(steps);
        total.realize({10});
        lesson::check(false, "running totals cannot be parallel");
    } catch (const CompileError &error) {
        std::printf("\nrunning totals: %s\n", error.what());
        lesson::check(lesson::contains(error.what(), "total"), "the message names the Func");
    }
}
