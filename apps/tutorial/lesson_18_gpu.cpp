// Lesson 18: schedules for a GPU, and how to debug them on a laptop.
//
// A GPU runs kernels: many blocks of threads. You learn to map loops to blocks and threads, to share
// intermediate results of a block in its shared memory, and to run and check kernels without a GPU.

#include "apps/tutorial/lesson.h"

#include <pipe/pipe.h>

#include <iostream>

using namespace Pipe;

namespace {

Var x("x"), y("y"), c("c"), xo("xo"), yo("yo"), xi("xi"), yi("yi");

/// A blur in two stages.
struct Blur {
    Func input, rows{"rows"}, blurred{"blurred"};

    explicit Blur(const Buffer<uint8_t> &photo) : input(BoundaryConditions::repeat_edge(photo)) {
        rows(x, y, c) = (cast<float>(input(x - 1, y, c)) + input(x, y, c) + input(x + 1, y, c)) / 3;
        blurred(x, y, c) = (rows(x, y - 1, c) + rows(x, y, c) + rows(x, y + 1, c)) / 3;
    }
};

}  // namespace

int main() {
    const Buffer<uint8_t> photo = lesson::picture();
    Buffer<float> result(photo.width(), photo.height(), photo.channels());
    const auto expected = Pipeline(Blur(photo).blurred).realize_reference({photo.width(), photo.height(), 3});

    // "host-cuda" is this machine with an NVIDIA GPU. "host-cuda_emulator" runs the same kernels on
    // the CPU: slowly, but on any machine, and every access to memory is checked. Everything below
    // works on both; so that the lesson runs anywhere, we take the emulator.
    const Target target("host-cuda_emulator");

    // gpu_tile splits x and y: each block of threads computes a tile of 32 x 8 pixels, one per thread.
    // Neighboring threads (xi) should access neighboring elements, as they do here. Stages that are
    // inlined, such as `rows` in this schedule, are computed by each thread for itself.
    Blur inlined(photo);
    inlined.blurred.gpu_tile(x, y, xo, yo, xi, yi, 32, 8);
    inlined.blurred.realize(result, target);
    result.for_each_element([&](int x, int y, int c) {
        lesson::check(std::abs(result(x, y, c) - Buffer<float>(expected)(x, y, c)) < 1e-3f,
                      "the kernel computes what the definition says");
    });

    // A stage that is computed at a loop over blocks is stored in the block's shared memory: the
    // threads compute it together, wait for each other (a barrier), and read what the others
    // computed. `rows` has two rows more than the tile; its 10 rows are computed by 8 rows of threads,
    // some of which take two.
    Blur shared(photo);
    shared.blurred.gpu_tile(x, y, xo, yo, xi, yi, 32, 8);
    shared.rows.compute_at(shared.blurred, xo).gpu_threads(x, y);
    Pipeline pipeline(shared.blurred);
    pipeline.realize(result, target);
    std::cout << pipeline.loop_nest() << "\n";
    result.for_each_element([&](int x, int y, int c) {
        lesson::check(std::abs(result(x, y, c) - Buffer<float>(expected)(x, y, c)) < 1e-3f,
                      "so does the kernel with shared memory");
    });

    // What the emulator is for: a mistake that, on a GPU, only sometimes gives wrong pixels.
    // All threads of this kernel add to the same 16 elements of a histogram, and allow_race_conditions()
    // asserts that nothing can go wrong.
    Func bins("bins");
    RDom r(photo);
    bins(x) = 0;
    bins(photo(r.x, r.y, r.z) / 16) += 1;
    bins.update().allow_race_conditions().gpu_blocks(r.z, r.y).gpu_threads(r.x);
    std::string report;
    try {
        bins.realize({16}, target);
    } catch (const Error &error) {
        report = error.what();
    }
    std::cout << report << "\n\n";
    lesson::check(lesson::contains(report, "bins") && lesson::contains(report, "thread"),
                  "the emulator reports which threads access the same element of which Func");

    // The remedy: atomic() makes each addition one step.
    Func counts("counts");
    RVar part("part"), thread("thread");
    counts(x) = 0;
    counts(photo(r.x, r.y, r.z) / 16) += 1;
    counts.update().atomic().split(r.x, part, thread, 128).gpu_blocks(part, r.y, r.z).gpu_threads(thread);
    Buffer<int> histogram = counts.realize({16}, target);
    int pixels = 0;
    histogram.for_each_value([&](int count) { pixels += count; });
    lesson::check(pixels == photo.number_of_elements(), "each pixel is counted once");

    // And without any schedule of our own:
    Blur chosen(photo);
    Pipeline automatic(chosen.blurred);
    automatic.autoschedule(target).realize(result);
    std::cout << automatic.schedule_report() << automatic.schedule_source();
    lesson::check(lesson::contains(automatic.schedule_source(), "gpu_blocks"), "Pipe chose kernels");
}
