// Lesson 9: compile once, run often.
//
// Compiling takes some milliseconds. You learn to compile once for pictures of all sizes and for
// settings that change from call to call: with ImageParam, Param and Callable.

#include "apps/tutorial/lesson.h"

#include <pipe/image_io.h>
#include <pipe/pipe.h>

#include <cmath>

using namespace Pipe;

namespace {

/// What the pipeline below computes, for one value.
int corrected_byte(int value, float gamma) {
    return int(255 * std::pow(float(value) / 255, gamma) + 0.5f);
}

/// Every value is as the formula says; rounding may differ by one.
void check_all(const Buffer<uint8_t> &before, const Buffer<uint8_t> &after, float gamma) {
    before.for_each_value(
        [&](uint8_t a, uint8_t b) {
            lesson::check(std::abs(b - corrected_byte(a, gamma)) <= 1, "gamma correction");
        },
        after);
}

}  // namespace

int main(int argc, char **argv) {
    // An ImageParam stands for a picture that is not known yet: three dimensions of bytes. A Param
    // stands for a number. They are used in expressions like a Buffer and a number.
    ImageParam input(UInt(8), 3, "input");
    Param<float> gamma("gamma", 1.0f);  // 1 until it is set
    gamma.set_range(0.1f, 10.0f);

    Var x("x"), y("y"), c("c");
    Func corrected("corrected");
    corrected(x, y, c) = cast<uint8_t>(255 * pow(input(x, y, c) / 255.0f, gamma) + 0.5f);
    corrected.vectorize(x, 16);  // see the next lesson

    const Buffer<uint8_t> large = lesson::picture(), small = apps::default_picture(90, 50);
    Buffer<uint8_t> large_result(640, 384, 3), small_result(90, 50, 3);

    // The first realize compiles. Later ones run the same code with other settings, pictures and
    // sizes.
    Pipeline pipeline(corrected);
    input.set(large);
    gamma.set(0.5f);
    pipeline.realize(large_result);
    check_all(large, large_result, 0.5f);
    save_image(large_result, lesson::output_file(argc, argv, "lesson_09_brighter.png"));
    const CompileTimes times = pipeline.compile_times();
    std::printf("compiled in %.1f ms\n", times.lower_ms + times.llvm_ms);

    input.set(small);
    gamma.set(2.0f);
    pipeline.realize(small_result);
    check_all(small, small_result, 2.0f);
    lesson::check(pipeline.compile_times().llvm_ms == times.llvm_ms, "nothing was compiled again");
    std::printf("a call takes %.3f ms for the small picture\n",
                lesson::milliseconds([&] { pipeline.realize(small_result); }));

    // The promised range is checked in every call.
    try {
        gamma.set(20.0f);
        pipeline.realize(small_result);
        lesson::check(false, "20 is out of range");
    } catch (const RuntimeError &error) {
        std::printf("gamma = 20: %s\n", error.what());
        lesson::check(lesson::contains(error.what(), "gamma"), "the message names the Param");
    }

    // A Callable is the compiled pipeline as a function: arguments instead of set(). It has the
    // lowest overhead, and several threads may call it at the same time.
    Callable correct = pipeline.compile_to_callable({input, gamma});
    correct(small, 3.0f, small_result);
    check_all(small, small_result, 3.0f);
    correct(large, 0.7f, large_result);
    check_all(large, large_result, 0.7f);
    std::printf("a call of the Callable takes %.3f ms\n",
                lesson::milliseconds([&] { correct(small, 3.0f, small_result); }));
}
