// Lesson 1: the first Func.
//
// You learn what a Func and a Var are, how to compute the values of a Func with realize, and how to
// read them from C++.

#include "apps/tutorial/lesson.h"

#include <pipe/pipe.h>

using namespace Pipe;

int main() {
    // A Var is a coordinate. It has no value: it only names a dimension. The string is its name in
    // error messages and printed loops.
    Var x("x"), y("y");

    // A Func defines a value at every coordinate. This line computes nothing yet. It is a
    // definition, as in mathematics: ramp(x, y) = x + 10 y, for all integers x and y.
    Func ramp("ramp");
    ramp(x, y) = x + 10 * y;

    // realize compiles the Func to machine code, runs it for x = 0 .. 7 and y = 0 .. 3, and returns
    // the values in a Buffer, which is an array that knows its size. x is the column, y the row.
    Buffer<int32_t> values = ramp.realize({8, 4});

    std::printf("ramp(x, y) = x + 10 y for x = 0 .. 7, y = 0 .. 3\n");
    for (int row = 0; row < values.height(); ++row) {
        for (int column = 0; column < values.width(); ++column)
            std::printf("%4d", values(column, row));
        std::printf("\n");
    }
    values.for_each_element([&](int column, int row) {
        lesson::check(values(column, row) == column + 10 * row, "each value is x + 10 y");
    });

    // Vars and numbers of type int define a Func of int32_t. A Buffer of another type is an error,
    // not a silent conversion:
    try {
        Buffer<float> wrong = ramp.realize({8, 4});
        lesson::check(false, "a Buffer<float> cannot take int32_t values");
    } catch (const RuntimeError &error) {
        std::printf("\nA wrong type: %s\n", error.what());
    }

    // A Func has no size; only the requested region is computed. Another region of the same Func
    // can be computed by passing a Buffer to fill. This one begins at (100, -2).
    Buffer<int32_t> part(3, 2);
    part.set_min(100, -2);
    ramp.realize(part);

    std::printf("\nThe same Func for x = 100 .. 102, y = -2 .. -1\n");
    for (int row = -2; row <= -1; ++row)
        std::printf("%4d%4d%4d\n", part(100, row), part(101, row), part(102, row));
    lesson::check(part(100, -2) == 80 && part(102, -1) == 92, "coordinates may be negative");
}
