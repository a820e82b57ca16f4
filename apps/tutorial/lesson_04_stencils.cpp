// Lesson 4: stencils and boundary conditions.
//
// A stencil computes a pixel from its neighbors. You learn what happens at the edge of a picture,
// where some neighbors do not exist, and the five boundary conditions.

#include "apps/tutorial/lesson.h"

#include <pipe/image_io.h>
#include <pipe/pipe.h>

#include <vector>

using namespace Pipe;

namespace {

/// One row of a table: the values of `f` for x = -4 .. 8.
void print_row(const char *name, Func f, const std::vector<int> &expected) {
    Buffer<int32_t> row(13);
    row.set_min(-4);
    f.realize(row);
    std::printf("  %-18s", name);
    for (int x = -4; x <= 8; ++x) {
        std::printf("%3d", row(x));
        lesson::check(row(x) == expected[size_t(x + 4)], name);
    }
    std::printf("\n");
}

}  // namespace

int main(int argc, char **argv) {
    Var x("x"), y("y"), c("c");

    // The difference of the two neighbors: large where the picture changes in x.
    Buffer<int32_t> five(5, "five");  // a Buffer may have a name, for messages
    five.fill([](int i) { return i + 1; });
    Func slope("slope");
    slope(x) = five(x + 1) - five(x - 1);

    // For x = 0 .. 4 this needs five(-1) and five(5), which do not exist. Pipe checks this before
    // it runs: memory outside of a Buffer is never read.
    try {
        slope.realize({5});
        lesson::check(false, "reading outside of a Buffer is an error");
    } catch (const RuntimeError &error) {
        std::printf("Without a boundary condition: %s\n\n", error.what());
    }

    // A boundary condition returns a Func that has a value everywhere.
    using namespace BoundaryConditions;
    std::printf("  x                 ");
    for (int i = -4; i <= 8; ++i)
        std::printf("%3d", i);
    std::printf("\n");
    print_row("constant_exterior", constant_exterior(five, 0),
              {0, 0, 0, 0, 1, 2, 3, 4, 5, 0, 0, 0, 0});
    print_row("repeat_edge", repeat_edge(five), {1, 1, 1, 1, 1, 2, 3, 4, 5, 5, 5, 5, 5});
    print_row("repeat_image", repeat_image(five), {2, 3, 4, 5, 1, 2, 3, 4, 5, 1, 2, 3, 4});
    print_row("mirror_image", mirror_image(five), {4, 3, 2, 1, 1, 2, 3, 4, 5, 5, 4, 3, 2});
    print_row("mirror_interior", mirror_interior(five), {5, 4, 3, 2, 1, 2, 3, 4, 5, 4, 3, 2, 1});

    // The same on a picture: a sharpening stencil, which subtracts a fraction of the four
    // neighbors. repeat_edge is the usual choice for pictures: it creates no new edges.
    const Buffer<uint8_t> photo = lesson::picture();
    const int width = photo.width(), height = photo.height();
    Func input = repeat_edge(photo), wide("wide"), sharp("sharp");
    wide(x, y, c) = cast<int16_t>(input(x, y, c));  // can hold negative and large values
    sharp(x, y, c) = saturating_cast<uint8_t>(
        3 * wide(x, y, c) -
        (wide(x - 1, y, c) + wide(x + 1, y, c) + wide(x, y - 1, c) + wide(x, y + 1, c)) / 2);
    Buffer<uint8_t> result = sharp.realize({width, height, 3});
    save_image(result, lesson::output_file(argc, argv, "lesson_04_sharp.png"));

    const auto at = [&](int i, int j) {  // red, with repeated edges, in plain C++
        return int(photo(std::clamp(i, 0, width - 1), std::clamp(j, 0, height - 1), 0));
    };
    for (int i : {0, 1, 300, width - 1}) {
        const int around = at(i - 1, 0) + at(i + 1, 0) + at(i, -1) + at(i, 1);
        lesson::check(result(i, 0, 0) == std::clamp(3 * at(i, 0) - around / 2, 0, 255),
                      "the top row is sharpened with repeated pixels");
    }
}
