// Reductions in blocks: the sums of a block lie in an array of their own, and results do not change.
#include <filesystem>
#include <fstream>
#include <sstream>

#include "compare.h"
#include "support/temp_folder.h"

using namespace Pipe;
using namespace Pipe::testing;

namespace {

Var x("x"), y("y"), xo("xo"), xi("xi"), xu("xu"), xv("xv"), yo("yo"), yi("yi");

/// The loops that are compiled.
std::string loops_of(Func f) {
    TempFolder folder;
    const std::string file = folder / "loops.txt";
    f.compile_to_lowered_stmt(file, f.infer_arguments());
    std::stringstream text;
    text << std::ifstream(file).rdbuf();
    return text.str();
}

bool has_sums(const Func &f) {
    return loops_of(f).find(".s1.sums") != std::string::npos;
}

/// f(x, y) += in(x, r) * in(r, y), from a start of its own.
struct Product {
    ImageParam in{Int(32), 2, "in"};
    RDom r{0, 9, "r"};
    Func f{"f"};
    Product() {
        f(x, y) = x - 2 * y;
        f(x, y) += in(x, r) * in(r, y);
    }
    /// [xv: vector] [xu, yi: unrolled] [r] [xo, yo]
    void block(TailStrategy tail = TailStrategy::GuardWithIf) {
        f.update()
            .split(x, xo, xi, 8, tail)
            .split(xi, xu, xv, 4)
            .split(y, yo, yi, 3, tail)
            .reorder({xv, xu, yi, r, xo, yo})
            .vectorize(xv)
            .unroll(xu)
            .unroll(yi);
    }
    void feed(const Shape &shape) {
        const auto [min_x, width] = shape[0];
        const auto [min_y, height] = shape[1];
        const int first = std::min({0, min_x, min_y});
        const int last = std::max({9, min_x + width, min_y + height});
        image = noise<int>({{first, last - first}, {first, last - first}});
        in.set(image.buffer);
    }
    GuardedBuffer image{Int(32), {{0, 1}, {0, 1}}, 0, false};
};

const Shape shapes[] = {{{0, 8}, {0, 3}}, {{0, 1}, {0, 1}},   {{0, 7}, {0, 2}},
                        {{0, 9}, {0, 4}}, {{-3, 17}, {2, 7}}, {{5, 33}, {-4, 10}}};

/// Of an image with so many columns and rows more than the output.
void check_shapes(const Func &f, ImageParam &in, int columns, int rows) {
    for (const Shape &shape : shapes) {
        const auto [min_x, width] = shape[0];
        const auto [min_y, height] = shape[1];
        GuardedBuffer image = noise<int>({{min_x, width + columns}, {min_y, height + rows}});
        in.set(image.buffer);
        check_equal(f, shape);
    }
}

}  // namespace

TEST_CASE("blocks of sums, of every size", "[register_sums]") {
    Product p;
    p.block();
    CHECK(has_sums(p.f));
    for (const Shape &shape : shapes) {
        p.feed(shape);
        check_equal(p.f, shape);
    }
}

TEST_CASE("blocks of sums inside a consumer's tile, and of a Tuple", "[register_sums]") {
    ImageParam in(Int(32), 2, "in");
    RDom r(0, 5, 0, 3, "r");
    Func f("f"), g("g");
    f(x, y) = Tuple(x, y);
    f(x, y) = Tuple(f(x, y)[0] + in(x + r.x, y + r.y), f(x, y)[1] - f(x, y)[0] * r.x);
    g(x, y) = f(x, y)[0] * 7 + f(x, y)[1];
    g.split(y, yo, yi, 4, TailStrategy::GuardWithIf).parallel(yo);
    f.compute_at(g, yo);
    f.update()
        .split(x, xo, xi, 8, TailStrategy::GuardWithIf)
        .reorder(xi, y, r.x, r.y, xo)
        .vectorize(xi);
    f.update()
        .split(y, yo, yi, 2, TailStrategy::GuardWithIf)
        .reorder(xi, yi, r.x, r.y, xo, yo)
        .unroll(yi);
    check_shapes(g, in, 4, 2);
    CHECK(has_sums(g));
}

// Found by PIPE_FUZZ_SEED=201010943: the start was that of the row in memory.
TEST_CASE("blocks of sums in a sliding window start from the formula of their row",
          "[register_sums]") {
    ImageParam in(Int(32), 2, "in");
    RDom r(0, 3, "r");
    Func f("f"), g("g");
    f(x, y) = in(x, y) + 100 * y;
    f(x, y) += in(x + r, y);
    g(x, y) = f(x, y) + 3 * f(x, y + 2);
    f.store_root().compute_at(g, y);
    f.update().split(x, xo, xi, 8, TailStrategy::GuardWithIf).reorder(xi, r, xo, y).vectorize(xi);
    check_shapes(g, in, 2, 2);
    CHECK(has_sums(g));
    CHECK(loops_of(g).find("% 4") != std::string::npos);  // the window is folded
}

TEST_CASE("blocks of sums start from the arm of a select that may be read", "[register_sums]") {
    ImageParam in(Int(32), 1, "in");
    RDom r(0, 3, "r");
    Func f("f");
    f(x, y) = select(x >= 3, in(x - 3), x);
    f(x, y) += r * x;
    f.update().split(x, xo, xi, 8, TailStrategy::GuardWithIf).reorder(xi, r, xo, y).vectorize(xi);
    // The page beside the first or the last element may not be read.
    for (bool at_start : {false, true}) {
        GuardedBuffer image = noise<int>({{0, 14}}, at_start);
        in.set(image.buffer);
        check_equal(f, {{0, 17}, {0, 5}});
    }
    CHECK(has_sums(f));
}

TEST_CASE("where() leaves points out of blocks of sums", "[register_sums]") {
    Product p;
    RDom r(0, 9, "r");
    r.where(r.x != 3);
    Func f("f");
    f(x, y) = 1;
    f(x, y) += p.in(x, r) + y;
    f.update().split(y, yo, yi, 4, TailStrategy::GuardWithIf).reorder(yi, r, x, yo).unroll(yi);
    CHECK(has_sums(f));
    for (const Shape &shape : shapes) {
        p.feed(shape);
        check_equal(f, shape);
    }
}

TEST_CASE("what is no block of sums stays as it is", "[register_sums]") {
    ImageParam in(Int(32), 2, "in");
    RDom r(0, 6, "r");
    auto unrolled = [&](Func &f) {
        f.update().split(y, yo, yi, 4, TailStrategy::GuardWithIf).reorder(yi, r, x, yo).unroll(yi);
    };
    GuardedBuffer image = noise<int>({{0, 40}, {0, 40}});
    in.set(image.buffer);
    SECTION("it reads another element of its Func") {
        Func f("f");
        f(x, y) = x * y;
        f(x, r) = f(x, r) + f(x, max(r - 1, 0)) * in(r, 0);
        f.update().split(x, xo, xi, 4, TailStrategy::GuardWithIf).reorder(xi, r, xo).unroll(xi);
        CHECK(!has_sums(f));
        check_equal(f, {{0, 9}, {0, 6}});
    }
    SECTION("the element depends on the RVar") {
        Func f("f");
        f(x, y) = 0;
        f(r, y) += in(r, y);
        f.update().split(y, yo, yi, 4, TailStrategy::GuardWithIf).reorder(yi, r, yo).unroll(yi);
        CHECK(!has_sums(f));
        check_equal(f, {{0, 6}, {0, 9}});
    }
    SECTION("its loads are traced") {
        Func f("f");
        f(x, y) = 0;
        f(x, y) += in(x, y) * r;
        unrolled(f);
        f.trace_loads();
        CHECK(!has_sums(f));
    }
    SECTION("nothing is unrolled: LLVM keeps one vector in a register itself") {
        Func f("f");
        f(x, y) = 0;
        f(x, y) += in(x, y) * r;
        f.update().reorder(x, r, y).vectorize(x, 8, TailStrategy::GuardWithIf);
        CHECK(!has_sums(f));
        check_equal(f, {{0, 13}, {0, 9}});
    }
    SECTION("a block that no registers hold") {
        Func f("f");
        f(x, y) = 0;
        f(x, y) += in(x % 40, y % 40) * r;
        f.update()
            .split(x, xo, xi, 64, TailStrategy::GuardWithIf)
            .split(y, yo, yi, 64, TailStrategy::GuardWithIf)
            .reorder(xi, yi, r, xo, yo)
            .vectorize(xi)
            .unroll(yi);
        CHECK(!has_sums(f));
    }
}

namespace {

/// The update in blocks of 4 by 3 sums.
void block(Func &f, const RDom &r) {
    f.update()
        .split(y, yo, yi, 3, TailStrategy::GuardWithIf)
        .split(x, xo, xi, 4, TailStrategy::GuardWithIf)
        .reorder({xi, yi, r, xo, yo})
        .vectorize(xi)
        .unroll(yi);
}

/// Whether the pure definition has loops of its own.
bool has_pure_loops(const Func &f) {
    return loops_of(f).find("for f.s0.") != std::string::npos;
}

}  // namespace

TEST_CASE("blocks of sums start from a pure definition that is a formula", "[register_sums]") {
    Product p;
    p.block();
    CHECK_FALSE(has_pure_loops(p.f));
}

TEST_CASE("blocks of sums start from an input", "[register_sums]") {
    ImageParam in(Int(32), 2, "in");
    const auto data = noise<int>({{-8, 60}, {-8, 60}});
    in.set(data.buffer);
    RDom r(0, 5, "r");
    Func f("f");
    f(x, y) = in(x, y);
    f(x, y) += in(x, r) * in(r, y);
    block(f, r);
    CHECK_FALSE(has_pure_loops(f));
    for (const Shape &shape :
         {Shape{{0, 9}, {0, 4}}, Shape{{-3, 17}, {2, 7}}, Shape{{0, 1}, {0, 1}}})
        check_equal(f, shape);
}

TEST_CASE("blocks of sums load their start where they are visited several times",
          "[register_sums]") {
    Product p;
    RVar ro("ro"), ri("ri");
    p.f.update()
        .split(p.r, ro, ri, 4)
        .split(x, xo, xv, 4)
        .split(y, yo, yi, 2)
        .reorder({xv, yi, ri, xo, yo, ro})
        .vectorize(xv)
        .unroll(yi);
    CHECK(has_sums(p.f));
    CHECK(has_pure_loops(p.f));
    for (const Shape &shape : shapes) {
        p.feed(shape);
        check_equal(p.f, shape);
    }
}

TEST_CASE("blocks of sums load a start that is not a formula, or is not theirs alone",
          "[register_sums]") {
    ImageParam in(Int(32), 2, "in");
    const auto data = noise<int>({{-8, 60}, {-8, 60}});
    in.set(data.buffer);
    RDom r(0, 5, "r");
    SECTION("it reads a Func") {
        Func f("f"), g("g");
        g(x, y) = in(x, y) + 1;
        g.compute_root();
        f(x, y) = g(x, y);
        f(x, y) += in(x, r) * in(r, y);
        block(f, r);
        CHECK(has_sums(f));
        CHECK(has_pure_loops(f));
        check_equal(f, {{0, 9}, {0, 4}});
    }
    SECTION("a later update, after one of a single row") {
        Func f("f");
        f(x, y) = x - y;
        f(x, 1) = 7;
        f(x, y) += in(x, r) * in(r, y);
        f.update(1)
            .split(y, yo, yi, 3, TailStrategy::GuardWithIf)
            .split(x, xo, xi, 4, TailStrategy::GuardWithIf)
            .reorder({xi, yi, r, xo, yo})
            .vectorize(xi)
            .unroll(yi);
        CHECK(has_pure_loops(f));
        check_equal(f, {{0, 9}, {0, 4}});
    }
    SECTION("the update has a condition: what it leaves out keeps its start") {
        Func f("f");
        RDom s(0, 5, "s");
        s.where(s <= y);
        f(x, y) = x - y;
        f(x, y) += in(x, s) * in(s, y);
        block(f, s);
        check_equal(f, {{0, 9}, {-3, 8}});
    }
}
