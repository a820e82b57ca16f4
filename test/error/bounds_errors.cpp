// An access outside of a Buffer names the pipeline, the buffer, who reads, the dimension, what is
// needed, what is there, where it is written, and what to do.
#include <pipe/pipe.h>

#include "test/support/require_message.h"

using namespace Pipe;

namespace {
Var x("x"), y("y");
}

TEST_CASE("an input that is too small for an inner Func", "[error][bounds]") {
    ImageParam in(UInt(8), 2, "photo");
    Func rows("rows"), result("result");
    unsigned line = __LINE__ + 1;
    rows(x, y) = in(x, y) + in(x + 3, y);
    result(x, y) = rows(x, y) + rows(x, y + 1);
    rows.compute_root();
    in.set(Buffer<uint8_t>(12, 10));
    require_message<RuntimeError>(
        [&] {
            result.realize({10, 9});
        },
        {"Pipeline result", "Input photo", "0 to 12", "dimension 0", "0 to 11", "Read by rows",
         "bounds_errors.cpp:" + std::to_string(line), "larger input", "boundary condition"});
    in.set(Buffer<uint8_t>(13, 9));
    require_message<RuntimeError>(
        [&] {
            result.realize({10, 9});
        },
        {"photo", "0 to 9", "dimension 1", "0 to 8"});
    in.set(Buffer<uint8_t>(13, 10));
    CHECK_NOTHROW(result.realize({10, 9}));
}

TEST_CASE("of several readers each with its range, and what is inlined", "[error][bounds]") {
    ImageParam in(Int(32), 1, "data");
    Func shifted("shifted"), a("a"), b("b"), sum("sum");
    unsigned line = __LINE__ + 1;
    shifted(x) = in(x + 5);
    a(x) = shifted(x) * 2;
    b(x) = in(x);
    sum(x) = a(x) + b(x);
    a.compute_root();
    b.compute_root();
    in.set(Buffer<int>(10));
    auto at = [&](unsigned n) { return " (bounds_errors.cpp:" + std::to_string(line + n) + ")"; };
    require_message<RuntimeError>(
        [&] { sum.realize({8}); },
        {"Pipeline sum" + at(3), "Input data is read from 0 to 12", "it holds only 0 to 9",
         "Read by a" + at(1) + " from 5 to 12, b" + at(2) + " from 0 to 7",
         "where shifted" + at(0) + " is inlined"});
}

TEST_CASE("a promise of a shape names whose it was", "[error][bounds]") {
    unsigned line = __LINE__ + 1;
    ImageParam in(Int(32), 2, "data");
    Func f("f");
    f(x, y) = in(x, y);
    in.dim(1).set_extent(6);
    in.set(Buffer<int>(8, 7));
    auto at = [&](unsigned n) { return "bounds_errors.cpp:" + std::to_string(line + n); };
    require_message<RuntimeError>(
        [&] {
            f.realize({8, 6});
        },
        {"Pipeline f (" + at(2) + ")", "Buffer data of ImageParam " + at(0),
         "extent of dimension 1", "promised to be 6, but is 7", "Pass a Buffer of that shape"});
    in.set(Buffer<int>(8, 6));
    f.bound(x, 0, 6);
    require_message<RuntimeError>(
        [&] {
            f.realize({8, 6});
        },
        {"Buffer f of f (" + at(2) + ")", "extent of dimension 0", "promised to be 6, but is 8"});
}

TEST_CASE("an update that reads too much is named with its number", "[error][bounds]") {
    ImageParam in(Int(32), 1, "data");
    Func f("f");
    RDom r(0, 8);
    f(x) = 0;
    f(x) += 1;
    unsigned line = __LINE__ + 1;
    f(x) += in(x + r);
    Buffer<int> image(9);
    image.set_min(-1);
    in.set(image);
    require_message<RuntimeError>([&] { f.realize({4}); },
                                  {"Pipeline f", "Input data", "0 to 10", "-1 to 7", "f.update(1)",
                                   "bounds_errors.cpp:" + std::to_string(line)});
}

TEST_CASE("a read in a coordinate or a condition is named too", "[error][bounds]") {
    ImageParam where(Int(32), 1, "where");
    Func f("f");
    RDom r(0, 5);
    f(x) = 0;
    unsigned line = __LINE__ + 1;
    f(clamp(where(r), 0, 3)) += 1;
    where.set(Buffer<int>(3));
    require_message<RuntimeError>(
        [&] { f.realize({4}); },
        {"where", "0 to 4", "0 to 2", "f.update(0)", "bounds_errors.cpp:" + std::to_string(line)});
}

TEST_CASE("a constant image that is too small", "[error][bounds]") {
    Buffer<float> table(16, "curve");
    Func f("f");
    f(x) = table(x * 2);
    require_message<RuntimeError>([&] { f.realize({9}); },
                                  {"Pipeline f", "curve", "0 to 16", "0 to 15", "Read by f"});
}

TEST_CASE("a coordinate that depends on data may be clamped", "[error][bounds]") {
    ImageParam in(Int(8), 2, "in");
    in.set(Buffer<int8_t>(4, 4));
    RDom r(0, 4, 0, 4);
    const std::string advice = "limit the coordinate, which depends on data, with clamp()";
    SECTION("where a histogram is written") {
        Func h("h");
        h(x) = 0;
        h(cast<int>(in(r.x, r.y))) += 1;
        Buffer<int> counts(256);
        require_message<RuntimeError>(
            [&] { h.realize(counts); },
            {"Output h is written from -128 to 255 in dimension 0", "only 0 to 255",
             "h.update(0)", "Pass a larger one, or " + advice + "."});
    }
    SECTION("where a table is read") {
        Buffer<int> table(16, "table");
        Func f("f");
        f(x, y) = table(cast<int>(in(x, y)));
        require_message<RuntimeError>(
            [&] {
                f.realize({4, 4});
            },
            {"Input table is read from -128 to 127", "larger input", "boundary condition",
             ", or " + advice + "."});
    }
    SECTION("not where no data decide") {
        Func f("f");
        f(x) = 0;
        f(r.x + 300) += 1;
        Buffer<int> out(256);
        try {
            f.realize(out);
            FAIL("nothing was thrown");
        } catch (const RuntimeError &error) {
            CHECK(std::string(error.what()).find("clamp()") == std::string::npos);
        }
    }
}
