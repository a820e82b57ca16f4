// Lesson 14: let Pipe choose the schedule.
//
// You learn to request an automatic schedule, to read the report on what was chosen and why, and to
// print the schedule as C++ that you can paste into your program and change.

#include "apps/tutorial/lesson.h"

#include <pipe/image_io.h>
#include <pipe/pipe.h>

#include <iostream>
#include <vector>

using namespace Pipe;

namespace {

Var x("x"), y("y"), c("c");

/// Sharpens a picture: amplifies the difference from a blurred copy.
struct Unsharp {
    Func gray{"gray"}, blur_y{"blur_y"}, blurred{"blurred"}, ratio{"ratio"}, sharp{"sharp"};

    explicit Unsharp(const Buffer<float> &photo) {
        Func input = BoundaryConditions::repeat_edge(photo);
        gray(x, y) = 0.299f * input(x, y, 0) + 0.587f * input(x, y, 1) + 0.114f * input(x, y, 2);
        const auto five = [](Expr a, Expr b, Expr m, Expr d, Expr e) {
            return (a + e) * 0.061f + (b + d) * 0.245f + m * 0.388f;
        };
        blur_y(x, y) =
            five(gray(x, y - 2), gray(x, y - 1), gray(x, y), gray(x, y + 1), gray(x, y + 2));
        blurred(x, y) = five(blur_y(x - 2, y), blur_y(x - 1, y), blur_y(x, y), blur_y(x + 1, y),
                             blur_y(x + 2, y));
        ratio(x, y) = (2 * gray(x, y) - blurred(x, y)) / max(gray(x, y), 0.01f);
        sharp(x, y, c) = clamp(ratio(x, y) * input(x, y, c), 0.0f, 1.0f);
    }
};

}  // namespace

int main(int argc, char **argv) {
    const Buffer<float> photo = convert_image(apps::default_picture(1280, 720), Float(32));
    Buffer<float> plain_result(1280, 720, 3), result(1280, 720, 3);

    // For comparison: all stages one after the other, each as a whole, pixel by pixel, on one core.
    Unsharp plain(photo);
    for (Func stage : {plain.gray, plain.blur_y, plain.blurred, plain.ratio})
        stage.compute_root();
    const double plain_ms = lesson::milliseconds([&] { plain.sharp.realize(plain_result); });

    // One line requests a schedule for this machine. It is chosen in the first realize, for the
    // size given there; the compiled code is correct for every other size, too.
    Unsharp unsharp(photo);
    Pipeline pipeline(unsharp.sharp);
    pipeline.autoschedule(get_host_target());
    const double auto_ms = lesson::milliseconds([&] { pipeline.realize(result); });
    std::printf("stage after stage %.2f ms, chosen schedule %.2f ms (choosing took %.1f ms)\n\n",
                plain_ms, auto_ms, pipeline.compile_times().schedule_ms);

    // How to read the report: Funcs of a group are computed together, tile by tile. `tile` gives
    // the tile size of the group's last Func. The lines below show where the other Funcs of the
    // group are computed; `inlined` ones have no loops of their own. The cost of a group is the
    // model's prediction in processor clocks: arithmetic, waiting for near memory (caches) and far
    // memory, loop overhead, and cores that idle while others still work. `scratch` is the memory
    // of one tile, `redundancy` the fraction that is computed more than once because tiles overlap.
    const std::string report = pipeline.schedule_report();
    std::cout << report << "\n";
    lesson::check(lesson::contains(report, "group 0: sharp"), "the last Func names its group");
    lesson::check(lesson::contains(report, "tile: x "), "the report names the tile");

    // The same as a page for a browser: the graph of stages, tiles to scale, buffers beside the caches, other
    // schedules that were considered, and the loop nest.
    pipeline.report(lesson::output_file(argc, argv, "lesson_14_report.html"));

    // The same schedule as C++. Paste it after your definitions, in which gray, blur_y, .. are the
    // C++ variables of the Funcs, and the autoscheduler is no longer needed.
    const std::string source = pipeline.schedule_source();
    std::cout << source << "\n" << pipeline.loop_nest();
    lesson::check(lesson::contains(source, "sharp"), "the source schedules the output");

    // Only the order of additions differs, so floats agree up to rounding.
    result.for_each_value([](float a, float b) { lesson::check(std::abs(a - b) < 1e-5f, "same"); },
                          plain_result);
    save_image(convert_image(result, UInt(8)),
               lesson::output_file(argc, argv, "lesson_14_sharp.png"));
}
