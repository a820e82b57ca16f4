// A program of a user who has installed Pipe: blurs a ramp and checks one pixel.
#include <pipe/pipe.h>

#include <cstdint>
#include <cstdio>

using namespace Pipe;

int main() {
    Buffer<uint16_t> input(64, 48);
    input.fill([](int x, int y) { return 3 * x + y; });

    Var x("x"), y("y");
    Func rows("rows"), blurred("blurred");
    rows(x, y) = (input(x, y) + input(x + 1, y) + input(x + 2, y)) / cast<uint16_t>(3);
    blurred(x, y) = (rows(x, y) + rows(x, y + 1) + rows(x, y + 2)) / cast<uint16_t>(3);

    Buffer<uint16_t> output(62, 46);
    Pipeline pipeline(blurred);
    pipeline.autoschedule(get_host_target()).realize(output);

    const int expected = 3 * (10 + 1) + (20 + 1);
    std::printf("blurred(10, 20) = %d, expected %d\n", output(10, 20), expected);
    return output(10, 20) == expected ? 0 : 1;
}
