// Pipeline::predict and Func::predict: what they take, and that they neither run nor change anything.
#include <catch2/catch_test_macros.hpp>

#include <pipe/pipe.h>

#include "test/support/require_message.h"

using namespace Pipe;

namespace {

Var x("x"), y("y"), yi("yi");

struct Blur {
    ImageParam in{UInt(16), 2, "in"};
    Func bx{"bx"}, by{"by"};

    Blur() {
        bx(x, y) = (in(x, y) + in(x + 1, y) + in(x + 2, y)) / 3;
        by(x, y) = (bx(x, y) + bx(x, y + 1) + bx(x, y + 2)) / 3;
    }
};

bool contains(const std::string &text, const std::string &part) {
    return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("a schedule can be judged without running it", "[predict]") {
    Blur slow, fast;
    slow.bx.compute_root();
    fast.by.split(y, y, yi, 32).parallel(y).vectorize(x, 16);
    fast.bx.store_at(fast.by, y).compute_at(fast.by, yi).vectorize(x, 16);
    const Prediction before = slow.by.predict({1024, 768}), after = fast.by.predict({1024, 768});
    CHECK(after.milliseconds < before.milliseconds / 2);
    REQUIRE(before.stages.size() == 2);
    CHECK(before.stages[0].func == "bx");
    CHECK(before.stages[1].func == "by");
    for (const char *part : {"arithmetic", "memory", "bx", "by", "all"})
        CHECK(contains(before.to_string(), part));
}

TEST_CASE("sizes and Buffers of these sizes give the same", "[predict]") {
    Blur b;
    b.bx.compute_root();
    Pipeline pipeline(b.by);
    Buffer<uint16_t> out(640, 480);
    out.fill(7);
    CHECK(pipeline.predict(out).milliseconds == pipeline.predict({640, 480}).milliseconds);
    CHECK(pipeline.predict(Realization(out)).milliseconds == pipeline.predict(out).milliseconds);
    CHECK(out(3, 4) == 7);
    CHECK(pipeline.compile_times().llvm_ms == 0);
}

TEST_CASE("inputs that are not set cover what is read", "[predict]") {
    Blur b;
    b.bx.compute_root();
    const double open = b.by.predict({640, 480}).milliseconds;
    b.in.set(Buffer<uint16_t>(642, 482));
    CHECK(b.by.predict({640, 480}).milliseconds == open);
}

TEST_CASE("a prediction is for the threads that realize would use", "[predict]") {
    Blur b;
    b.bx.compute_root().parallel(y, 8);
    b.by.parallel(y, 8);
    set_num_threads(1);
    const double one = b.by.predict({4096, 4096}).milliseconds;
    set_num_threads(4);
    const double four = b.by.predict({4096, 4096}).milliseconds;
    set_num_threads(0);
    CHECK(four < one / 2);
}

TEST_CASE("outputs smaller than a vector run another program", "[predict]") {
    Blur b;
    b.by.vectorize(x, 16);
    CHECK(b.by.predict({8, 8}).milliseconds > 0);
}

TEST_CASE("what cannot be predicted", "[predict]") {
    Blur b;
    Pipeline pipeline(b.by);
    require_message<RuntimeError>([&] { pipeline.predict({640}); },
                                  {"by", "1 size", "2 dimensions"});
    require_message<CompileError>(
        [&] {
            pipeline.predict({640, 480}, Target("x86-64-linux-avx2-cuda-cuda_capability_80"));
        },
        {"predict", "GPU", "CPU"});
    Param<int> factor("factor");
    Func f("f");
    f(x) = x * factor;
    require_message<RuntimeError>([&] { f.predict({100}); }, {"factor", "set()"});
}

TEST_CASE("the report of an autoscheduled pipeline has its predicted times", "[predict]") {
    Blur b;
    b.by.set_estimates({{0, 1280}, {0, 960}});
    Pipeline pipeline(b.by);
    pipeline.autoschedule(get_host_target());
    const std::string report = pipeline.schedule_report();
    INFO(report);
    CHECK(contains(report, "group 0"));
    CHECK(contains(report, "predicted for these sizes"));
}
