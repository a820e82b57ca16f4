// What is found when a pipeline runs, or cannot be compiled for what it reads: what it needs, and
// that it is usable afterward.
#include <pipe/pipe.h>

#include "test/support/require_message.h"

using namespace Pipe;

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
    require_message<CompileError>([&] { f.realize({4}); },
                                  {"table", "dimension 0 (x)", "resources.cpp:", "clamp(index"});
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
    require_message<RuntimeError>(
        [&] {
            f.realize({50, 50});
        },
        {"Pipeline f (resources.cpp:", "out of memory", "huge", "15366415680004 bytes",
         "compute_at"});
    huge.compute_inline();
    Buffer<float> out = f.realize({50, 50});
    CHECK(out(2, 1) == 120000);
}

TEST_CASE("a boundary condition beyond its image says where it was written", "[realize][error]") {
    Buffer<uint8_t> image(8, 8, "image");
    Func f = BoundaryConditions::repeat_edge(image, {{0, 9}, {0, 8}});
    require_message<RuntimeError>(
        [&] {
            f.realize({20, 20});
        },
        {"image", "0 to 8", "dimension 0", "0 to 7", "resources.cpp:"});
}
