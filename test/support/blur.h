#pragma once
// The usual example of two stages.

#include <pipe/pipe.h>

namespace test {

/// The horizontal blur bx, which the vertical blur by reads in three rows.
struct Blur {
    Pipe::Var x{"x"}, y{"y"};
    Pipe::ImageParam input{Pipe::UInt(16), 2, "input"};
    Pipe::Func bx{"bx"}, by{"by"};
    Blur() {
        bx(x, y) = (input(x, y) + input(x + 1, y) + input(x + 2, y)) / 3;
        by(x, y) = (bx(x, y) + bx(x, y + 1) + bx(x, y + 2)) / 3;
    }
};

}  // namespace test
