// Large reductions to few points are parallel and vectors over their RVars.
#include <catch2/catch_test_macros.hpp>

#include <pipe/pipe.h>

#include <string>
#include <vector>

using namespace Pipe;

namespace {

AutoscheduleOptions cores(int n) {
    AutoscheduleOptions options;
    options.cores = n;
    return options;
}

}  // namespace

TEST_CASE("the sum of an image", "[autoschedule]") {
    Buffer<int> image(301, 257);
    image.fill([](int x, int y) { return (x * 31 + y * 17) % 1000 - 300; });
    int sum = 0;
    image.for_each_element([&](int x, int y) { sum += image(x, y); });
    RDom r(image);
    for (bool is_inline : {false, true}) {
        for (int n : {1, 4}) {
            INFO(n << " cores, " << (is_inline ? "sum()" : "an update"));
            Func f("f");
            if (is_inline) {
                f() = 5 + Pipe::sum(image(r.x, r.y));
            } else {
                f() = 5;
                f() += image(r.x, r.y);
            }
            Pipeline p(f);
            p.autoschedule(get_host_target(), cores(n));
            Buffer<int> result = p.realize();
            CHECK(result() == sum + 5);
            std::string loops = p.loop_nest();
            INFO(loops);
            CHECK((loops.find("parallel") != std::string::npos) == (n > 1));
            CHECK(loops.find("vectorized") != std::string::npos);
        }
    }
}

TEST_CASE("what is divided by the sum of all", "[autoschedule]") {
    Buffer<int> image(1201, 757);
    image.fill([](int x, int y) { return (x * 31 + y * 17) % 1000; });
    int sum = 0;
    image.for_each_element([&](int x, int y) { sum += image(x, y); });
    RDom r(image);
    Var x("x"), y("y");
    Func f("f");
    f(x, y) = image(x, y) * 1000 / Pipe::sum(image(r.x, r.y));
    Pipeline p(f);
    // Of few cores, each would add everything up by itself: a division takes longer than many additions.
    p.autoschedule(get_host_target(), cores(16));
    Buffer<int> result = p.realize({1201, 757});
    std::string loops = p.loop_nest();
    INFO(loops);
    CHECK(loops.find("parallel r") != std::string::npos);
    int wrong = 0;
    image.for_each_element(
        [&](int x, int y) { wrong += result(x, y) != image(x, y) * 1000 / sum; });
    CHECK(wrong == 0);
}

TEST_CASE("floats only where that is allowed; small sums stay as they are", "[autoschedule]") {
    Buffer<float> image(256, 256);
    image.fill([](int x, int y) { return static_cast<float>((x + y) % 8); });
    auto nest = [&](const Target &target, int size) {
        RDom r(0, size, 0, size, "r");
        Func f("f");
        f() = 0.f;
        f() += image(r.x, r.y);
        Pipeline p(f);
        p.autoschedule(target, cores(4));
        Buffer<float> result = p.realize({}, target);
        CHECK(result() == 3.5f * static_cast<float>(size * size));  // exact: small integers
        return p.schedule_source();
    };
    Target fast = get_host_target().with_feature(Target::FastMath);
    CHECK(nest(get_host_target(), 256).find("parallel") == std::string::npos);
    CHECK(nest(fast, 256).find("parallel") != std::string::npos);
    CHECK(nest(fast, 16).find("parallel") == std::string::npos);
}

TEST_CASE("a scatter into a large array has no accumulators per thread", "[autoschedule]") {
    Buffer<int> image(301, 257);
    image.fill([](int x, int y) { return x * 31 + y * 17; });
    RDom r(image);
    Var x("x"), y("y"), c("c");
    for (const int bins : {16, 20000}) {
        INFO(bins << " bins");
        Func f("f");
        f(x, c) = 0;
        f(clamp(image(r.x, r.y), 0, 20000) % bins, c) += c + 1;
        Pipeline p(f);
        p.autoschedule(get_host_target(), cores(4));
        Buffer<int> result = p.realize({bins, 2});
        int64_t sum = 0;
        result.for_each_value([&](int v) { sum += v; });
        CHECK(sum == 3 * 301 * 257);
        const bool parallel = p.loop_nest().find("parallel r") != std::string::npos;
        CHECK(parallel == (bins == 16));
    }
}

TEST_CASE("histograms have tables for lanes, as many as stay in L1", "[autoschedule]") {
    Buffer<int> image(301, 257);
    image.fill([](int x, int y) { return x * 31 + y * 17; });
    RDom r(image);
    Var x("x");
    AutoscheduleOptions options = cores(1);
    options.l1_bytes = 32 << 10;
    for (const auto &[bins, tables] : {std::pair{256, 8}, {1024, 4}, {8192, 1}}) {
        INFO(bins << " bins");
        Func f("f");
        f(x) = 0;
        f(clamp(image(r.x, r.y), 0, 20000) % bins) += 1;
        Pipeline p(f);
        p.autoschedule(get_host_target(), options);
        const Buffer<int> result = p.realize({bins});
        std::vector<int> expected(static_cast<size_t>(bins));
        image.for_each_value([&](int v) { expected[static_cast<size_t>(v % bins)]++; });
        int wrong = 0;
        for (int i = 0; i < bins; i++)
            wrong += result(i) != expected[static_cast<size_t>(i)];
        CHECK(wrong == 0);
        const std::string split = ", " + std::to_string(tables) + ", TailStrategy";
        CHECK((p.schedule_source().find(split) != std::string::npos) == (tables > 1));
    }
}

// 64 tables of 256 KiB took three times as long as a single one.
TEST_CASE("a large histogram has one table per core", "[autoschedule]") {
    Buffer<uint8_t> a(1100, 1100), b(1100, 1100);
    a.fill([](int x, int y) { return (x * 31 + y * 17) & 255; });
    b.fill([](int x, int y) { return (x * 7 + y * y) & 255; });
    RDom r(a);
    Var x("x"), y("y");
    for (const int bins : {3, 256}) {
        INFO(bins << " bins in each dimension");
        Func joint("joint");
        joint(x, y) = 0;
        joint(cast<int>(a(r.x, r.y)) % bins, cast<int>(b(r.x, r.y)) % bins) += 1;
        Pipeline p(joint);
        p.autoschedule(get_host_target(), cores(2));
        const Buffer<int> result = p.realize({bins, bins});
        Buffer<int> expected(bins, bins);
        expected.fill(0);
        a.for_each_element([&](int i, int j) { expected(a(i, j) % bins, b(i, j) % bins)++; });
        int wrong = 0;
        result.for_each_element([&](int i, int j) { wrong += result(i, j) != expected(i, j); });
        CHECK(wrong == 0);
        CHECK(p.loop_nest().find("parallel r") != std::string::npos);
        const bool per_core = p.schedule_source().find(", 550, TailStrategy") != std::string::npos;
        CHECK(per_core == (bins == 256));
    }
}

TEST_CASE("tables are for places that data name, not for formulas", "[autoschedule]") {
    Buffer<int> image(304, 257);
    image.fill([](int x, int y) { return x * 31 + y * 17; });
    RDom r(image);
    Var x("x");
    Func f("f");
    f(x) = 0;
    f(r.x / 8) += image(r.x, r.y);
    Pipeline p(f);
    p.autoschedule(get_host_target(), cores(1));
    const Buffer<int> result = p.realize({38});
    std::vector<int> expected(38);
    image.for_each_element(
        [&](int i, int j) { expected[static_cast<size_t>(i / 8)] += image(i, j); });
    for (int i = 0; i < 38; i++)
        CHECK(result(i) == expected[static_cast<size_t>(i)]);
    INFO(p.loop_nest());
    CHECK(p.loop_nest().find("_parts") == std::string::npos);
}
