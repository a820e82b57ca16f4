// Predicted times compared with closed forms.
#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>

#include "model.h"

using namespace test;
using Catch::Approx;

namespace {

Var x("x"), y("y"), xi("xi"), yi("yi");

/// Whether a is within `percent` of b.
bool near(double a, double b, double percent) {
    return std::abs(a - b) <= percent / 100 * b;
}

struct Copy {
    ImageParam in{Float(32), 2, "in"};
    Func out{"out"};
    Copy() { out(x, y) = in(x, y); }
};

/// 256 x 256, in register blocks of `vectors` vectors by `rows`.
struct Product {
    static constexpr int size = 256;
    ImageParam a{Float(32), 2, "a"}, b{Float(32), 2, "b"};
    Func sum{"sum"}, out{"out"};
    RDom k{0, size, "k"};

    Product(int vectors, int rows, int lanes = 16) {
        sum(x, y) = 0.0f;
        sum(x, y) += a(k, y) * b(x, k);
        out(x, y) = sum(x, y);
        out.tile(x, y, xi, yi, lanes * vectors, rows).vectorize(xi, lanes).unroll(xi).unroll(yi);
        sum.compute_at(out, x).vectorize(x, lanes).unroll(x).unroll(y);
        sum.update().reorder(x, y, k).vectorize(x, lanes).unroll(x).unroll(y);
    }
    Prediction predict(const Setup &setup = {}) const {
        return predicted(out, {{size, size}, {size, size}, {size, size}}, setup);
    }
    static constexpr double fmas = double(size) * size * size;
};

}  // namespace

TEST_CASE("a copy of large images takes their bytes over the memory's rate") {
    Copy p;
    p.out.vectorize(x, 16);
    const int size = 8192;
    const Prediction r = predicted(p.out, {{size, size}, {size, size}});
    const double bytes = 4.0 * size * size;
    // read; read before it is written, and written back
    CHECK(near(stage(r, "out").dram, (2 + 0.3) * bytes / 10 / 1e6, 2));
    CHECK(r.milliseconds >= stage(r, "out").dram);
    CHECK(near(r.milliseconds, stage(r, "out").dram, 40));
}

TEST_CASE("stores that bypass the caches read nothing, and have a rate of their own") {
    Copy p;
    p.out.vectorize(x, 16).store_nontemporal();
    const int size = 8192;
    const Prediction r = predicted(p.out, {{size, size}, {size, size}});
    CHECK(near(stage(r, "out").dram, (1 / 10.0 + 1 / 5.0) * 4 * size * size / 1e6, 2));
}

TEST_CASE("what fits into a cache is there from the run before") {
    Copy p;
    p.out.vectorize(x, 16);
    const PredictedStage in_l1 = stage(predicted(p.out, {{64, 32}, {64, 32}}), "out");
    CHECK(in_l1.l2 == 0);
    CHECK(in_l1.dram == 0);
    const PredictedStage in_l2 = stage(predicted(p.out, {{256, 256}, {256, 256}}), "out");
    CHECK(near(in_l2.l2, (2 + 0.3) * 4 * 256 * 256 / 40 / 1e6, 2));
    CHECK(in_l2.l3 == 0);
    const PredictedStage in_l3 = stage(predicted(p.out, {{768, 768}, {768, 768}}), "out");
    CHECK(near(in_l3.l3, (2 + 0.3) * 4 * 768 * 768 / 20 / 1e6, 2));
    CHECK(in_l3.dram == 0);
}

TEST_CASE("a product of matrices in register blocks reaches the peak") {
    const double peak = Product::fmas / 16 / 2 / 1e6;
    const Prediction good = Product(4, 6).predict();
    CHECK(near(stage(good, "sum").arithmetic, peak, 20));
    CHECK(near(good.milliseconds, peak, 40));
    // one row: each product needs a load of its own
    CHECK(Product(4, 1).predict().milliseconds > 1.5 * good.milliseconds);
    // two vectors: the sums wait for each other
    CHECK(Product(2, 1).predict().milliseconds > 2 * good.milliseconds);
    // more sums than registers
    CHECK(Product(4, 10).predict().milliseconds > 1.2 * good.milliseconds);
}

TEST_CASE("half as wide vectors take twice as many instructions") {
    Setup narrow;
    narrow.target = Target("x86-64-linux-avx2-fma");
    narrow.machine.vector_bytes = 32, narrow.machine.vector_registers = 16;
    const double wide_ms = stage(Product(4, 6).predict(), "sum").arithmetic;
    CHECK(near(stage(Product(2, 6, 8).predict(narrow), "sum").arithmetic, 2 * wide_ms, 15));
    // vectors of two registers are two instructions
    CHECK(near(stage(Product(1, 6, 16).predict(narrow), "sum").arithmetic, 2 * wide_ms, 15));
}

TEST_CASE("a sum with one accumulator waits for each addition") {
    ImageParam in(Float(32), 1, "in");
    Func sum("sum");
    const int size = 4096;
    RDom r(0, size, "r");
    sum() = 0.0f;
    sum() += in(r);
    const Prediction one = predicted(sum, {{}, {size}});
    CHECK(near(one.milliseconds, 4.0 * size / 1e6, 5));
}

TEST_CASE("a scan waits for the element stored before") {
    ImageParam in(Float(32), 1, "in");
    Func scan("scan"), apart("apart");
    const int size = 4096;
    RDom r(1, size - 1, "r");
    scan(x) = in(x);
    scan(r) = scan(r - 1) * 0.5f + in(r);
    apart(x) = in(x);
    apart(r) = in(r - 1) * 0.5f + in(r);
    const double waits = predicted(scan, {{size}, {size}}).milliseconds;
    CHECK(waits > 8.0 * size / 1e6);
    CHECK(waits > 3 * predicted(apart, {{size}, {size}}).milliseconds);
}

TEST_CASE("functions of the library cost what they do per vector") {
    ImageParam in(Float(32), 2, "in");
    Func out("out");
    out(x, y) = sin(in(x, y));
    out.vectorize(x, 16);
    const double vectors = 256 * 256 / 16.0;
    CHECK(near(stage(predicted(out, {{256, 256}, {256, 256}}), "out").arithmetic,
               15 * vectors / 1e6, 15));
}

TEST_CASE("gathers cost more than dense loads, and columns more than rows") {
    Copy dense, turned;
    dense.out.vectorize(x, 16);
    turned.out = Func("out");
    turned.out(x, y) = turned.in(y, x);
    turned.out.vectorize(x, 16);
    const Extents sizes{{512, 512}, {512, 512}};
    CHECK(predicted(turned.out, sizes).milliseconds > 4 * predicted(dense.out, sizes).milliseconds);
    Copy columns;
    columns.out.reorder(y, x);
    Copy rows;
    const Extents large{{4096, 4096}, {4096, 4096}};
    CHECK(predicted(columns.out, large).milliseconds > 3 * predicted(rows.out, large).milliseconds);
}

TEST_CASE("columns a multiple of a page apart crowd into few sets of a cache") {
    auto column_sums = [](int width) {
        ImageParam in(Float(32), 2, "in");
        Func out("out");
        RDom r(0, 256, "r");
        out(x) = 0.0f;
        out(x) += in(x, r);
        return predicted(out, {{width}, {width, 256}}).milliseconds / width;
    };
    CHECK(column_sums(4096) > 1.5 * column_sums(4096 + 16));
}

TEST_CASE("a fused stage saves the way through memory") {
    auto blur = [](bool fused) {
        ImageParam in(UInt(16), 2, "in");
        Func bx("bx"), by("by");
        bx(x, y) = (in(x, y) + in(x + 1, y) + in(x + 2, y)) / 3;
        by(x, y) = (bx(x, y) + bx(x, y + 1) + bx(x, y + 2)) / 3;
        by.split(y, y, yi, 32).vectorize(x, 32);
        if (fused)
            bx.store_at(by, y).compute_at(by, yi).vectorize(x, 32);
        else
            bx.compute_root().vectorize(x, 32);
        return predicted(by, {{6400, 4800}, {6402, 4802}});
    };
    const Prediction root = blur(false), fused = blur(true);
    CHECK(fused.milliseconds < 0.8 * root.milliseconds);
    CHECK(stage(fused, "bx").dram < 0.6 * stage(root, "bx").dram);
}

TEST_CASE("rows that are unrolled are no tiles of the loop along the row") {
    // The rows of the image lie 16 tiles and 10 vectors apart.
    const int64_t width = 4258, height = 1024;
    auto milliseconds = [&](int rows, int columns) {
        ImageParam in(Float(32), 2, "in");
        Func sums("sums"), out("out");
        sums(x, y) = in(x, y) + in(x, y + 2);
        out(x, y) = sums(x, y) + sums(x + 1, y + 1);
        Var xo("xo"), yo("yo");
        out.tile(x, y, xo, yo, xi, yi, columns, 32).vectorize(xi, 16);
        sums.compute_at(out, xo).vectorize(x, 16);
        if (rows > 1)
            sums.split(y, yo, yi, rows, TailStrategy::GuardWithIf).reorder(yi, x, yo).unroll(yi);
        return predicted(out, {{width - 2, height}, {width, height + 8}}).milliseconds;
    };
    for (int columns : {128, 256, 512}) {
        const double one_by_one = milliseconds(1, columns);
        for (int rows : {2, 4, 8}) {
            INFO(rows << " rows, tiles of " << columns);
            CHECK(milliseconds(rows, columns) <= 1.1 * one_by_one);
        }
    }
}
