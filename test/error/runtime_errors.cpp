// Buffers that do not fit what the schedule or the algorithm does with them: the RuntimeError names
// the Func, the dimension, what is needed and what was given, and the pipeline stays usable.
#include <pipe/pipe.h>

#include <functional>

#include "test/support/require_message.h"

using namespace Pipe;

namespace {

Var x("x"), y("y"), xo("xo"), xi("xi");

/// out(x, y) = x + 10 * y, over all that `pipeline` can be given.
void check_works(Pipeline &pipeline, int64_t width, int64_t height) {
    Buffer<int> out(width, height);
    out.fill(-1);
    pipeline.realize(out);
    int wrong = 0;
    out.for_each_element([&](int i, int j) { wrong += out(i, j) != i + 10 * j; });
    CHECK(wrong == 0);
}

}  // namespace

TEST_CASE("an output smaller than the factor of a split that shifts inwards", "[realize][error]") {
    Func f("f");
    f(x, y) = x + 10 * y;
    f.split(x, xo, xi, 8, TailStrategy::ShiftInwards);
    Pipeline pipeline(f);
    Buffer<int> small(5, 3);
    require_message<RuntimeError>([&] { pipeline.realize(small); },
                                  {"f", "extent of 5", "dimension x", "factor 8", "GuardWithIf"});
    check_works(pipeline, 9, 3);
}

TEST_CASE("an output that is no multiple of a factor rounded up", "[realize][error]") {
    Func f("f");
    f(x, y) = x + 10 * y;
    f.split(x, xo, xi, 4, TailStrategy::RoundUp);
    Pipeline pipeline(f);
    Buffer<int> small(10, 3);
    require_message<RuntimeError>(
        [&] { pipeline.realize(small); },
        {"Output f", "0 to 11", "dimension 0", "0 to 9", "runtime_errors.cpp:"});
    check_works(pipeline, 12, 3);
}

TEST_CASE("a double literal that makes a Func float64", "[realize][error]") {
    ImageParam in(Float(32), 2, "in"), doubles(Float(64), 2, "doubles");
    in.set(Buffer<float>(4, 4));
    doubles.set(Buffer<double>(4, 4));
    Func f("f"), g("g");
    f(x, y) = 0.25 * in(x, y);
    g(x, y) = 0.25 * doubles(x, y);
    Buffer<float> out(4, 4);
    Buffer<int> integers(4, 4);
    const std::string advice = "write 0.25f";
    require_message<RuntimeError>(
        [&] { f.realize(out); },
        {"f", "elements of float64", "has float32",
         "cast<...>() the value of the Func. No input is float64: a literal", advice});
    for (const auto &misuse : {std::function<void()>([&] { g.realize(out); }),
                               std::function<void()>([&] { f.realize(integers); })})
        try {
            misuse();
            FAIL("nothing was thrown");
        } catch (const RuntimeError &error) {
            CHECK(std::string(error.what()).find(advice) == std::string::npos);
        }
}

TEST_CASE("a bound that is not kept", "[realize][error]") {
    Func f("f");
    f(x, y) = x + 10 * y;
    f.bound(x, 0, 6).unroll(x);
    Pipeline pipeline(f);
    require_message<RuntimeError>(
        [&] {
            pipeline.realize({7, 2});
        },
        {"f", "extent", "dimension 0", "6", "7"});
    check_works(pipeline, 6, 2);
}

TEST_CASE("an update that stores beyond the output", "[realize][error]") {
    Func f("f");
    RDom r(0, 10);
    f(x, y) = x + 10 * y;
    f(r, y) = r + 10 * y;
    Pipeline pipeline(f);
    Buffer<int> small(8, 2);
    require_message<RuntimeError>([&] { pipeline.realize(small); },
                                  {"Pipeline f", "Output f", "0 to 9", "dimension 0", "0 to 7",
                                   "Written by f.update(0)", "runtime_errors.cpp:"});
    check_works(pipeline, 11, 2);
}

TEST_CASE("an output that another output reads more of", "[realize][error]") {
    Func f("f"), g("g");
    f(x, y) = x + 10 * y;
    std::string reads = line(1);
    g(x, y) = f(x + 2, y) - 2;
    Pipeline pipeline(std::vector<Func>{f, g});
    Buffer<int> small(8, 4), right(10, 4), out(8, 4);
    require_message<RuntimeError>([&] { pipeline.realize(small, out); },
                                  {"Pipeline f, g", "Output f", "2 to 9", "dimension 0", "0 to 7",
                                   "Read by g (" + reads + ")"});
    out.fill(0);
    pipeline.realize(right, out);
    CHECK(out(7, 3) == 37);
    CHECK(right(9, 3) == 39);
}

TEST_CASE("which definition writes or reads beyond is named", "[realize][error]") {
    Func f("f"), g("g"), pair("pair");
    f(x) = x;
    f(x) += 1;
    std::string writes = line(1);
    f(12) += 1;
    Buffer<int> small(8), nine(9);
    require_message<RuntimeError>(
        [&] { f.realize(small); },
        {"Output f", "0 to 12", "0 to 7", "Written by f.update(1) (" + writes + ")"});
    Func bounded("bounded");
    bounded(x) = x;
    bounded.compute_root().bound(x, 0, 8);
    std::string reads = line(1);
    g(x) = bounded(x + 40);
    require_message<RuntimeError>(
        [&] { g.realize(small); },
        {"Pipeline g", "bounded: dimension x", "0 to 7", "40 to 47", "Read by g (" + reads + ")"});
    pair(x) = Tuple(x, x);
    require_message<RuntimeError>(
        [&] { pair.realize(Realization(small, nine)); },
        {"Pipeline pair", "of pair (runtime_errors.cpp:", "the extent of dimension 0",
         "must be that of pair.0, 8, but is 9", "Pass a Buffer of that shape"});
}

TEST_CASE("an input that a where reads beyond", "[realize][error]") {
    ImageParam in(Int(32), 1, "mask");
    Func f("f");
    RDom r(0, 4);
    r.where(in(x + r) > 0);
    f(x) = 0;
    f(x) += r;
    Pipeline pipeline(f);
    Buffer<int> mask(10), out(8);
    mask.fill(1);
    in.set(mask);
    require_message<RuntimeError>([&] { pipeline.realize(out); },
                                  {"mask", "0 to 10", "dimension 0", "0 to 9"});
    Buffer<int> enough(11);
    enough.fill(1);
    in.set(enough);
    pipeline.realize(out);
    CHECK(out.all_equal(6));
}

TEST_CASE("a factor that is no size", "[error]") {
    Var x("x"), xo("xo"), xi("xi");
    Param<int> size("size");
    Func f("f");
    f(x) = x + 1;
    SECTION("of tasks") {
        f.parallel(x, size);
    }
    SECTION("of a split") {
        f.split(x, xo, xi, size, TailStrategy::GuardWithIf);
    }
    for (int wrong : {0, -17}) {
        size.set(wrong);
        require_message<RuntimeError>([&] { f.realize({32}); },
                                      {"Pipeline f", "f (runtime_errors.cpp:", "loop x",
                                       "split by " + std::to_string(wrong), "at least 1"});
    }
    size.set(5);
    Buffer<int> out = f.realize({32});
    CHECK(out(31) == 32);
}

TEST_CASE("a factor of a version that does not run", "[error]") {
    Var x("x");
    Param<int> size("size");
    Func f("f");
    f(x) = x + 1;
    f.specialize(size > 0).parallel(x, size);
    for (int any : {-1, 0, 3}) {
        size.set(any);
        Buffer<int> out = f.realize({8});
        CHECK(out(7) == 8);
    }
}
