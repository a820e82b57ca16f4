// Lesson 5: several stages.
//
// You learn to build a pipeline of Funcs that call each other, what "inlined" means, and how to
// print the loops that Pipe generates. The pipeline detects the edges in a picture.

#include "apps/tutorial/lesson.h"

#include <pipe/image_io.h>
#include <pipe/pipe.h>

#include <iostream>

using namespace Pipe;

int main(int argc, char **argv) {
    const Buffer<uint8_t> photo = lesson::picture();
    Var x("x"), y("y");

    // Each Func is one step, and reads earlier ones.
    Func input = BoundaryConditions::repeat_edge(photo), gray("gray");
    gray(x, y) = 0.299f * input(x, y, 0) + 0.587f * input(x, y, 1) + 0.114f * input(x, y, 2);

    Func across("across"), down("down"), edges("edges");  // the change of gray in x and in y
    across(x, y) = gray(x + 1, y) - gray(x - 1, y);
    down(x, y) = gray(x, y + 1) - gray(x, y - 1);
    edges(x, y) =
        cast<uint8_t>(min(sqrt(across(x, y) * across(x, y) + down(x, y) * down(x, y)), 255.0f));

    // By default, every Func that other Funcs call is inlined: its formula is substituted for each
    // call, as if there were only one large formula. So there is one loop nest, and nothing is
    // stored between the steps. But gray is computed four times for each pixel: once for each
    // neighbor.
    Pipeline pipeline(edges);
    const std::string inlined = pipeline.loop_nest();
    std::cout << "As defined:\n" << inlined;
    lesson::check(inlined == "produce edges:\n"
                             "  for y:\n"
                             "    for x:\n"
                             "      edges(x, y) = ...\n",
                  "there is one loop nest for all steps");

    Buffer<uint8_t> first = pipeline.realize({photo.width(), photo.height()});
    std::cout << "Memory between the steps: " << pipeline.peak_scratch_bytes() << " bytes\n\n";
    lesson::check(pipeline.peak_scratch_bytes() == 0, "inlined Funcs need no memory");

    // compute_root means: first compute everything of this Func that will be needed, and store it.
    // Now there are two loop nests, one after the other, and gray is computed once for each pixel.
    gray.compute_root();
    const std::string at_root = pipeline.loop_nest();
    std::cout << "With gray.compute_root():\n" << at_root;
    lesson::check(at_root == "produce gray:\n"
                             "  for y:\n"
                             "    for x:\n"
                             "      gray(x, y) = ...\n"
                             "produce edges:\n"
                             "  for y:\n"
                             "    for x:\n"
                             "      edges(x, y) = ...\n",
                  "gray has its own loops");

    // Pipe infers which region of gray is needed: one pixel more on each side.
    Buffer<uint8_t> second = pipeline.realize({photo.width(), photo.height()});
    std::cout << "Memory between the steps: " << pipeline.peak_scratch_bytes() << " bytes\n\n";
    lesson::check(pipeline.peak_scratch_bytes() >= 642 * 386 * int64_t(sizeof(float)),
                  "gray is stored with a border of one pixel");

    // The way in which a Func is computed is called its schedule. It changes time and memory, but
    // not the result.
    int different = 0;
    first.for_each_value([&](uint8_t a, uint8_t b) { different += a != b; }, second);
    lesson::check(different == 0, "the schedule does not change the result");
    save_image(second, lesson::output_file(argc, argv, "lesson_05_edges.png"));
}
