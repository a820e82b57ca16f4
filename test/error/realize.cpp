// Misuse of realize: each RuntimeError names the Buffer, what is needed and what was given.
#include <pipe/pipe.h>

#include "test/support/require_message.h"

using namespace Pipe;

namespace {

struct Copy {
    Var x{"x"}, y{"y"};
    ImageParam in{UInt(8), 2, "in"};
    Func f{"f"};
    Pipeline pipeline;
    Buffer<uint8_t> image{8, 8}, out{4, 4};
    Copy() {
        f(x, y) = in(x + 2, y) + 1;
        pipeline = Pipeline(f);
        image.fill(7);
        in.set(image);
        out.fill(0);
    }
    /// After an error everything is usable.
    ~Copy() {
        in.set(image);
        pipeline.realize(out);
        CHECK(out.all_equal(8));
    }
};

}  // namespace

TEST_CASE_METHOD(Copy, "outputs", "[realize][error]") {
    require_message<RuntimeError>([&] { pipeline.realize(Buffer<uint8_t>()); },
                                  {"Output 'f'", "undefined"});
    require_message<RuntimeError>([&] { pipeline.realize(Buffer<float>(4, 4)); },
                                  {"Output 'f'", "uint8", "float32"});
    require_message<RuntimeError>([&] { pipeline.realize(Buffer<uint8_t>(4)); },
                                  {"Output 'f'", "2 dimensions", "has 1"});
    require_message<RuntimeError>([&] { pipeline.realize(Buffer<uint8_t>(4, 0)); },
                                  {"Output 'f'", "extent of dimension 1 is 0"});
    require_message<RuntimeError>(
        [&] {
            pipeline.realize({4, 0});
        },
        {"'f'", "extent of dimension 1 is 0"});
    require_message<RuntimeError>([&] { pipeline.realize({4}); },
                                  {"'f'", "2 dimensions", "1 sizes"});
    require_message<RuntimeError>([&] { pipeline.realize(Buffer<uint8_t>(nullptr, 4, 4)); },
                                  {"Output 'f'", "null"});
    require_message<RuntimeError>([&] { pipeline.realize(out, out); },
                                  {"1 output values", "2 Buffers"});
    require_message<RuntimeError>(
        [&] {
            pipeline.realize({INT32_MAX, INT32_MAX});
        },
        {"'f'", "2147483647"});
    uint8_t byte = 0;
    Buffer<uint8_t> far(&byte, {{int64_t{1} << 31, 1, 1}, {0, 1, 1}});
    require_message<RuntimeError>([&] { pipeline.realize(far); },
                                  {"Output 'f'", "dimension 0", "2147483648", "32-bit"});
}

TEST_CASE_METHOD(Copy, "inputs", "[realize][error]") {
    in.reset();
    require_message<RuntimeError>([&] { pipeline.realize(out); },
                                  {"Input 'in'", "no Buffer", "set()"});
    in.set(Buffer<uint8_t>(nullptr, 8, 8));
    require_message<RuntimeError>([&] { pipeline.realize(out); }, {"Input 'in'", "null"});
}

TEST_CASE_METHOD(Copy, "an input smaller than what is read", "[realize][error]") {
    in.set(Buffer<uint8_t>(5, 8));
    require_message<RuntimeError>([&] { pipeline.realize(out); },
                                  {"in", "2 to 5", "dimension 0", "0 to 4", "realize.cpp:"});
}

TEST_CASE_METHOD(Copy, "promises that are broken", "[realize][error]") {
    in.dim(0).set_extent(8);
    in.set(Buffer<uint8_t>(9, 8));
    require_message<RuntimeError>([&] { pipeline.realize(out); },
                                  {"in", "extent", "dimension 0", "8", "9"});
}

TEST_CASE("a Param outside its range", "[realize][error]") {
    Var x("x");
    Param<int> p("gain", 3, 1, 10);
    Func f("f");
    f(x) = x * p;
    p.set(11);
    require_message<RuntimeError>([&] { f.realize({4}); }, {"'gain'", "11", "1 to 10"});
    p.set(-1);
    require_message<RuntimeError>([&] { f.realize({4}); }, {"'gain'", "-1"});
    p.set(2);
    Buffer<int> out = f.realize({4});
    CHECK(out(3) == 6);
}

TEST_CASE("an unbounded access", "[realize][error]") {
    Var x("x");
    ImageParam index(Int(32), 1, "index");
    Func table("table"), f("f");
    table(x) = x * x;
    table.compute_root();
    f(x) = table(index(x));
    Buffer<int> data(4);
    data.fill(2);
    index.set(data);
    require_message<CompileError>([&] { f.realize({4}); }, {"table", "clamp"});
    Func g("g");
    g(x) = table(clamp(index(x), 0, 9));
    Buffer<int> out = g.realize({4});
    CHECK(out(1) == 4);
}

TEST_CASE("an allocation that fails", "[realize][error]") {
    Var x("x"), y("y");
    Func huge("huge"), f("f");
    huge(x, y) = cast<float>(x + y);
    f(x, y) = huge(x * 40000, y * 40000);
    huge.compute_root();
    require_message<RuntimeError>([&] { f.realize({50, 50}); },
                                  {"out of memory", "huge", "15366415680004 bytes"});
    huge.compute_inline();
    Buffer<float> out = f.realize({50, 50});
    CHECK(out(2, 1) == 120000);
}

TEST_CASE("a boundary condition beyond its image says where it was written", "[realize][error]") {
    Buffer<uint8_t> image(8, 8, "image");
    Func f = BoundaryConditions::repeat_edge(image, {{0, 9}, {0, 8}});
    require_message<RuntimeError>([&] { f.realize({20, 20}); },
                                  {"image", "0 to 8", "dimension 0", "0 to 7", "realize.cpp:"});
}

TEST_CASE("an undefined Pipeline", "[realize][error]") {
    require_message<CompileError>([] { Pipeline().realize(Buffer<int>(3)); },
                                  {"undefined Pipeline"});
    Func f("f");
    require_message<CompileError>([&] { Pipeline(f).realize(Buffer<int>(3)); },
                                  {"'f'", "no definition"});
}
