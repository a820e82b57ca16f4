#pragma once
// A pipeline of two kernels, for tests of the run time.

#include <pipe/pipe.h>

namespace Pipe::test {

/// out(x, y) = 2 * in(x, y) + 2 * in(x + 1, y), the sum by a kernel, of a Func that another kernel computes.
struct TwoKernels {
    explicit TwoKernels(const Target &t) : target(t) {
        doubled(x, y) = 2 * in(x, y);
        out(x, y) = doubled(x, y) + doubled(x + 1, y);
        out.gpu_tile(x, y, xi, yi, 8, 4);
        doubled.compute_root().gpu_tile(x, y, xi, yi, 8, 4);
    }
    void run(const Buffer<int> &input, const Buffer<int> &output) {
        in.set(input);
        out.realize(output, target);
    }
    bool is_right(const Buffer<int> &input, const Buffer<int> &output) const {
        bool right = true;
        output.for_each_element([&](int px, int py) {
            right &= output(px, py) == 2 * input(px, py) + 2 * input(px + 1, py);
        });
        return right;
    }

    Target target;
    Var x{"x"}, y{"y"}, xi{"xi"}, yi{"yi"};
    ImageParam in{Int(32), 2, "in"};
    Func doubled{"doubled"}, out{"out"};
};

/// x + 1000 * y
inline Buffer<int> counted(int w, int h) {
    Buffer<int> b(w, h);
    b.fill([](int x, int y) { return x + 1000 * y; });
    return b;
}

}  // namespace Pipe::test
