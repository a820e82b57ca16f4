// Lesson 15: override one stage of an automatic schedule.
//
// Pipe keeps the directives that you write and chooses the rest around them. You learn to make one
// decision yourself, to see it in the report, and to check that it was worthwhile.

#include "apps/tutorial/lesson.h"

#include <pipe/image_io.h>
#include <pipe/pipe.h>

#include <iostream>

using namespace Pipe;

namespace {

Var x("x"), y("y"), yi("yi");

/// Corners of a picture: large where it changes in both directions.
struct Corners {
    Func gray{"gray"}, dx{"dx"}, dy{"dy"}, xx{"xx"}, yy{"yy"}, xy{"xy"}, corners{"corners"};

    explicit Corners(const Buffer<float> &photo) {
        Func input = BoundaryConditions::repeat_edge(photo);
        gray(x, y) = 0.299f * input(x, y, 0) + 0.587f * input(x, y, 1) + 0.114f * input(x, y, 2);
        dx(x, y) = gray(x + 1, y) - gray(x - 1, y);
        dy(x, y) = gray(x, y + 1) - gray(x, y - 1);
        RDom r(-1, 3, -1, 3, "r");
        xx(x, y) += dx(x + r.x, y + r.y) * dx(x + r.x, y + r.y);
        yy(x, y) += dy(x + r.x, y + r.y) * dy(x + r.x, y + r.y);
        xy(x, y) += dx(x + r.x, y + r.y) * dy(x + r.x, y + r.y);
        const Expr determinant = xx(x, y) * yy(x, y) - xy(x, y) * xy(x, y);
        const Expr trace = xx(x, y) + yy(x, y);
        corners(x, y) = 100 * (determinant - 0.04f * trace * trace);
    }
};

}  // namespace

int main(int argc, char **argv) {
    const Buffer<float> photo = convert_image(apps::default_picture(1280, 720), Float(32));
    Buffer<float> chosen_result(1280, 720), mixed_result(1280, 720);

    // All stages scheduled by Pipe.
    Corners chosen(photo);
    Pipeline chosen_pipeline(chosen.corners);
    chosen_pipeline.autoschedule(get_host_target());
    chosen_pipeline.realize(chosen_result);

    // Suppose you want gray to be computed as a whole, in strips of 16 rows on all cores: because
    // you know something that the model does not, because you want to inspect it, or just to try
    // it. Schedule this stage before calling autoschedule, and leave the others alone.
    Corners mixed(photo);
    mixed.gray.compute_root().split(y, y, yi, 16).parallel(y).vectorize(x, 8);
    Pipeline mixed_pipeline(mixed.corners);
    mixed_pipeline.autoschedule(get_host_target());
    mixed_pipeline.realize(mixed_result);

    const std::string loops = mixed_pipeline.loop_nest();
    std::cout << loops << "\n" << mixed_pipeline.schedule_report() << "\n";
    // A Func named like another one that exists gets a number: here "gray$1".
    const std::string gray = mixed.gray.name();
    lesson::check(loops.starts_with("produce " + gray + ":\n" +
                                    "  parallel y:\n"
                                    "    for yi:\n"
                                    "      for x:\n"
                                    "        vectorized x_lane:\n"
                                    "          " +
                                    gray + "(x, y) = ...\n"),
                  "gray is computed as we scheduled it, before all others");
    lesson::check(lesson::contains(mixed_pipeline.schedule_report(), "scheduled by hand: " + gray),
                  "the report lists the stages that we scheduled");

    // The way to tune: start from the automatic schedule, change one stage, measure, and keep what
    // helps.
    std::printf("chosen %.2f ms, with our gray %.2f ms\n",
                lesson::milliseconds([&] { chosen_pipeline.realize(chosen_result); }),
                lesson::milliseconds([&] { mixed_pipeline.realize(mixed_result); }));
    chosen_result.for_each_value(
        [](float a, float b) { lesson::check(std::abs(a - b) < 1e-3f, "the results agree"); },
        mixed_result);
    save_image(convert_image(mixed_result, UInt(8)),
               lesson::output_file(argc, argv, "lesson_15_corners.png"));
}
