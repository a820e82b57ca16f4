// Lesson 8: Tuples and argmax.
//
// A Func may have several values at each coordinate: a Tuple. You learn to define, update, read and
// realize one, and to find the brightest pixel of a picture. The resulting picture is a local
// contrast stretch: every pixel is scaled between the darkest and the brightest one around it.

#include "apps/tutorial/lesson.h"

#include <pipe/image_io.h>
#include <pipe/pipe.h>

using namespace Pipe;

int main(int argc, char **argv) {
    const Buffer<uint8_t> photo = lesson::picture();
    const int width = photo.width(), height = photo.height();
    Var x("x"), y("y");
    Func green("green");
    green(x, y) = photo(x, y, 1);

    // argmax iterates over an RDom and returns a Tuple: the x and the y of the first maximum,
    // followed by its value.
    RDom all(0, width, 0, height, "all");
    Func brightest("brightest");
    brightest() = argmax(all, green(all.x, all.y));
    Realization found = brightest.realize();  // one Buffer for each value of the Tuple
    const Buffer<int32_t> at_x = found[0], at_y = found[1];
    const Buffer<uint8_t> value = found[2];
    std::printf("brightest green: %d at (%d, %d)\n", value(), at_x(), at_y());
    lesson::check(photo(at_x(), at_y(), 1) == value(), "argmax names a pixel and its value");
    photo.for_each_element([&](int i, int j, int c) {
        lesson::check(c != 1 || photo(i, j, c) <= value(), "no pixel is brighter");
        const bool before = j < at_y() || (j == at_y() && i < at_x());
        lesson::check(c != 1 || !before || photo(i, j, c) < value(), "it is the first one");
    });

    // The darkest and the brightest pixel of the 31 x 31 around each pixel, found in one pass. An
    // update of a Tuple computes all its values from the old ones.
    const int reach = 15;
    Func around = BoundaryConditions::repeat_edge(photo), range("range");
    RDom r(-reach, 2 * reach + 1, -reach, 2 * reach + 1, "r");
    const Expr pixel = around(x + r.x, y + r.y, 1);
    range(x, y) = Tuple(cast<uint8_t>(255), cast<uint8_t>(0));
    range(x, y) = Tuple(min(range(x, y)[0], pixel), max(range(x, y)[1], pixel));

    // [0] and [1] select a value. A Func with several values is still one Func: all values are
    // computed and stored together.
    Func stretched("stretched");
    const Expr low = cast<float>(range(x, y)[0]), high = cast<float>(range(x, y)[1]);
    stretched(x, y) = (green(x, y) - low) / max(high - low, 1.0f);  // 0 .. 1
    Buffer<float> result = stretched.realize({width, height});
    save_image(convert_image(result, UInt(8)),
               lesson::output_file(argc, argv, "lesson_08_stretched.png"));

    for (int i : {0, 200, width - 1}) {
        int darkest = 255, lightest = 0;
        for (int v = 100 - reach; v <= 100 + reach; ++v)
            for (int u = i - reach; u <= i + reach; ++u) {
                const int p = photo(std::clamp(u, 0, width - 1), v, 1);
                darkest = std::min(darkest, p), lightest = std::max(lightest, p);
            }
        const float expected =
            float(photo(i, 100, 1) - darkest) / float(std::max(lightest - darkest, 1));
        lesson::check(std::abs(result(i, 100) - expected) < 1e-5f, "stretched between the two");
    }
}
