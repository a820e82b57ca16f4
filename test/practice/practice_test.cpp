// Every pipeline of apps/practice under the autoscheduler's schedule against the C++ loops, and the loops
// against the reference evaluator.
#include "apps/practice/practice.h"

#include <catch2/catch_test_macros.hpp>

#include <cmath>
#include <cstring>

using namespace practice;
using Pipe::Buffer;
using Pipe::Pipeline;
using Pipe::Target;

namespace {

/// What the loops compute.
Buffer<> expected(const Practice &practice, const Arrays &arrays, Size size) {
    practice.loops(arrays, size);
    return arrays.output.copy();
}

bool is_finite(const Buffer<> &array) {
    bool finite = true;
    apps::as_doubles(array).for_each_value([&](double v) { finite &= std::isfinite(v); });
    return finite;
}

void check_equal(const Practice &practice, const Buffer<> &expected, const Buffer<> &actual) {
    CHECK(is_finite(expected));
    const double difference = apps::max_abs_difference(expected, actual);
    INFO("difference " << difference << ", largest " << apps::max_abs(expected));
    CHECK(difference <= practice.tolerance * apps::max_abs(expected));
}

/// Overwrites what is in the output, with NaN if it is of floats.
void forget(const Buffer<> &output) {
    std::memset(output.data(), 0xff, output.size_in_bytes());
}

/// Schedules a pipeline for its size in the benchmark and runs that code for all small sizes.
void check_small_sizes(const Practice &practice, const Target &target) {
    Program program = practice.make();
    Pipeline pipeline(program.output);
    set_estimates(practice, program, practice.size);
    pipeline.autoschedule(target);
    for (Size size : practice.small) {
        INFO(practice.name << " " << size.width << "x" << size.height);
        const Arrays arrays = make_arrays(practice, program, size);
        set_inputs(program, arrays);
        const Buffer<> loops = expected(practice, arrays, size);
        forget(arrays.output);
        pipeline.realize(arrays.output, target);
        check_equal(practice, loops, arrays.output);
    }
}

}  // namespace

TEST_CASE("the loops compute what the pipelines' definitions say") {
    for (const Practice &practice : registry()) {
        DYNAMIC_SECTION(practice.name) {
            Program program = practice.make();
            Pipeline pipeline(program.output);
            for (Size size : practice.small) {
                INFO(size.width << "x" << size.height);
                const Arrays arrays = make_arrays(practice, program, size);
                set_inputs(program, arrays);
                const Buffer<> loops = expected(practice, arrays, size);
                forget(arrays.output);
                pipeline.realize_reference(arrays.output);
                check_equal(practice, arrays.output, loops);
            }
        }
    }
}

TEST_CASE("schedules for the benchmark's sizes are right for small ones") {
    for (const Practice &practice : registry()) {
        DYNAMIC_SECTION(practice.name) {
            check_small_sizes(practice, Pipe::get_host_target().with_feature(Target::FastMath));
        }
    }
}

TEST_CASE("schedules for a small size are right for it") {
    const Target target = Pipe::get_host_target().with_feature(Target::QuickCompile);
    for (const Practice &practice : registry()) {
        DYNAMIC_SECTION(practice.name) {
            for (Size size : {practice.small.front(), practice.small.back()}) {
                INFO(size.width << "x" << size.height);
                Program program = practice.make();
                const Arrays arrays = make_arrays(practice, program, size);
                set_inputs(program, arrays);
                const Buffer<> loops = expected(practice, arrays, size);
                forget(arrays.output);
                Pipeline(program.output).autoschedule(target).realize(arrays.output, target);
                check_equal(practice, loops, arrays.output);
            }
        }
    }
}

TEST_CASE("schedules for a GPU, in the emulator") {
    for (const Practice &practice : registry()) {
        DYNAMIC_SECTION(practice.name) {
            check_small_sizes(practice, Target("host-cuda_emulator-quick_compile"));
        }
    }
}
