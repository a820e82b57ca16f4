// The hint that a pipeline has no schedule.
#include <pipe/pipe.h>

#include <chrono>
#include <thread>

#include <catch2/catch_test_macros.hpp>

#include "test/unit/support/set_variable.h"

using namespace Pipe;

namespace {

struct Reporter : CompileTimeErrorReporter {
    Reporter() { set_custom_compile_time_error_reporter(this); }
    ~Reporter() override { set_custom_compile_time_error_reporter(nullptr); }
    std::vector<std::string> warnings;
    void warning(const char *message) override { warnings.push_back(message); }
    void error(const char *) override {}
};

}  // namespace

extern "C" int pipe_test_takes_long(int x) {
    std::this_thread::sleep_for(std::chrono::milliseconds(60));
    return x;
}
HalideExtern_1(int, pipe_test_takes_long, int);

TEST_CASE("a slow pipeline without a schedule is hinted at, once", "[hints]") {
    Var x("x");
    Reporter reporter;
    testing::SetVariable on("PIPE_HINTS", "1");
    set_hints(true);
    Func quick("quick"), slow("slow"), planned("planned"), chosen("chosen");
    quick(x) = x;
    slow(x) = pipe_test_takes_long(x);
    planned(x) = pipe_test_takes_long(x);
    planned.parallel(x);
    chosen(x) = pipe_test_takes_long(x);
    quick.realize({10});
    planned.realize({1});
    Pipeline(chosen).autoschedule(get_host_target()).realize({1});
    CHECK(reporter.warnings.empty());
    slow.realize({1});
    REQUIRE(reporter.warnings.size() == 1);
    for (const char *part : {"slow (hints.cpp:", "no schedule", " ms", "autoschedule()",
                             "set_hints(false)", "PIPE_HINTS=0"}) {
        INFO(reporter.warnings[0]);
        CHECK(reporter.warnings[0].find(part) != std::string::npos);
    }
    slow.realize({1});
    CHECK(reporter.warnings.size() == 1);
    set_hints(true);
    slow.compile_to_callable({})(Buffer<int>(1));
    CHECK(reporter.warnings.size() == 2);
}

TEST_CASE("where no schedule can be used because of the user, there is the error alone",
          "[hints]") {
    Reporter reporter;
    ImageParam in(Int(32), 1, "in");
    Var x("x");
    Func sums("sums"), out("out");
    sums(x) = x;
    sums(x) += RDom(0, 1000);
    out(x) = sums(in(x));  // which could be anything
    Buffer<int> image(8);
    image.fill(0);
    in.set(image);
    Pipeline pipeline(out);
    pipeline.autoschedule(get_host_target());
    CHECK_THROWS_AS(pipeline.realize({8}), CompileError);
    CHECK(reporter.warnings.empty());
}

TEST_CASE("where another schedule takes the place of the chosen one, one warning says so",
          "[hints]") {
    Reporter reporter;
    ImageParam in(Int(32), 2, "in");
    Var x("x"), y("y");
    Func k("k"), f("f");
    k(x, y) = in(clamp(x, 0, 299), y) * 2;
    f(x, y) = k(x - 1, y) + k(x + 1, y);
    f.output_buffer().may_alias(in);  // so k cannot be inlined
    Buffer<int> image(300, 200);
    image.fill(1);
    in.set(image);
    Pipeline pipeline(f);
    pipeline.autoschedule(get_host_target());
    pipeline.realize(image);
    CHECK(image(299, 199) == 4);
    REQUIRE(reporter.warnings.size() == 1);
    CHECK(reporter.warnings[0].find("found no usable schedule") != std::string::npos);
    pipeline.realize(image);
    CHECK(reporter.warnings.size() == 1);
}

TEST_CASE("no hint where hints are off", "[hints]") {
    Var x("x");
    Reporter reporter;
    testing::SetVariable off("PIPE_HINTS", "0");
    set_hints(true);
    Func slow("slow");
    slow(x) = pipe_test_takes_long(x);
    slow.realize({1});
    CHECK(reporter.warnings.empty());
}
