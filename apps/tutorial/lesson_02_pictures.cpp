// Lesson 2: a picture in, a picture out.
//
// You learn how to load and save pictures, how a Func reads a picture, and why types are converted
// on the way. The result is the picture with darkened corners, like the vignetting of an old lens.

#include "apps/tutorial/lesson.h"

#include <pipe/image_io.h>
#include <pipe/pipe.h>

using namespace Pipe;

int main(int argc, char **argv) {
    // A real program would read an existing picture; this one writes its own first.
    const std::string before = lesson::output_file(argc, argv, "lesson_02_before.png");
    save_image(lesson::picture(), before);

    // PNG, JPEG, PGM and PPM files can be read. The Buffer has three dimensions: x, y and the
    // channel (0 red, 1 green, 2 blue). Its elements are bytes from 0 (dark) to 255 (bright).
    const Buffer<uint8_t> photo = load_image_as<uint8_t>(before);
    const int width = photo.width(), height = photo.height(), channels = photo.channels();
    std::printf("%d x %d pixels, %d channels\n", width, height, channels);

    // Inside a definition, a Buffer is used like a Func. An Expr is an expression, a part of a
    // definition; naming the parts keeps definitions readable and costs nothing.
    Var x("x"), y("y"), c("c");
    Func darkened("darkened");
    const Expr u = (x + 0.5f) / width - 0.5f;   // -0.5 at the left edge, 0.5 at the right
    const Expr v = (y + 0.5f) / height - 0.5f;  // -0.5 at the top, 0.5 at the bottom
    const Expr light = 1 - 1.5f * (u * u + v * v);

    // A byte times a float is a float. cast converts it back to a byte by truncation; adding 0.5
    // first makes that rounding.
    darkened(x, y, c) = cast<uint8_t>(photo(x, y, c) * light + 0.5f);

    Buffer<uint8_t> result = darkened.realize({width, height, channels});
    save_image(result, lesson::output_file(argc, argv, "lesson_02_after.png"));

    // The same in plain C++. (The results may differ by one if a product is almost exactly between
    // two integers, because floats may be rounded differently.)
    int different = 0;
    result.for_each_element([&](int i, int j, int k) {
        const float du = (float(i) + 0.5f) / float(width) - 0.5f;
        const float dv = (float(j) + 0.5f) / float(height) - 0.5f;
        const float expected = float(photo(i, j, k)) * (1 - 1.5f * (du * du + dv * dv)) + 0.5f;
        different += std::abs(int(result(i, j, k)) - int(expected)) > 1;
    });
    lesson::check(different == 0, "the picture is what the formula says");
}
