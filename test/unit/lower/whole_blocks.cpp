#include "lower/whole_blocks.h"

#include <random>

#include <catch2/catch_message.hpp>
#include <catch2/catch_test_macros.hpp>

#include <pipe/pipe.h>

#include "ir/print.h"
#include "ir/simplify.h"
#include "language/freeze.h"
#include "support/parse_ir.h"
#include "unit/lower/nest_text.h"
#include "unit/lower/random_loops.h"

using namespace Pipe;
using namespace Pipe::ir;
using namespace Pipe::testing;

namespace {

constexpr int lanes = 4;

Expr row(int rows) {
    return add(mul(var("yo"), number(rows)), var("yi"));
}

/// A block of rows, unrolled around a vector; each of the loops may be guarded.
Stmt block(int rows, const Expr &row_guard, const Expr &column_guard,
           const std::string &buffer = "out") {
    const Expr x = add(mul(var("xo"), number(lanes)), var("xi"));
    const Expr at = add(mul(row(rows), number(LoopProgram::pitch)), x);
    auto guarded = [](const Expr &guard, const Stmt &s) {
        return guard.defined() ? make_if(guard, s) : s;
    };
    Stmt s = guarded(column_guard, make_store(buffer, at, add(load("in", at), number(1))));
    s = make_for("xi", number(0), number(lanes), LoopKind::Vectorized, s);
    return make_for("yi", number(0), number(rows), LoopKind::Unrolled, guarded(row_guard, s));
}

Stmt loop(const std::string &name, int64_t extent, const Stmt &body) {
    return make_for(name, number(0), number(extent), LoopKind::Serial, body);
}

const Types types = {{"flag", Bool()}, {"wrapping", UInt(32)}, {"large", UInt(64)}};

std::string separated(const std::string &text, const graph::Graph *graph = nullptr) {
    return ir::to_string(lower::whole_blocks(parse_stmt(text, types), graph));
}

void check_unchanged(const std::string &text) {
    INFO(text);
    CHECK(separated(text) == text);
}

std::string in_if(const std::string &condition, const std::string &body) {
    return around("if " + condition, body);
}
std::string in_yo(const std::string &body) {
    return around("for yo in [0, 2)", body);
}
std::string in_xo(const std::string &body) {
    return around("for xo in [0, 3)", body);
}
std::string in_yi(const std::string &body) {
    return around("for yi in [0, 4) unrolled", body);
}
std::string in_xi(const std::string &body) {
    return around("for xi in [0, 4) vectorized", body);
}
/// What is left of a block of `count` rows.
std::string in_rest(const std::string &body) {
    return around("for yi in [0, yi.count) unpartitioned", body);
}
const std::string store = "f[yo * 400 + yi * 100 + xo] = 1\n",
                  vector = "f[yo * 400 + yi * 100 + xo * 4 + xi] = 1\n";

/// A block whose rows have the guard: `count` of them are needed, all of them where `whole` holds. `rest`: the guards
/// of the rest.
void check_rows(const std::string &guard, const std::string &count, const std::string &whole,
                const std::string &rest = "") {
    CHECK(separated(in_yo(in_xo(in_yi(in_if(guard, store))))) ==
          in_yo("let yi.count = " + count + "\n" + "if " + whole + " {\n" +
                indented(in_xo(in_yi(store))) +
                around("} else", in_xo(in_rest(rest.empty() ? store : in_if(rest, store))))));
}

/// No more than `rows` of four.
std::string at_most(const std::string &rows) {
    return "int32(max(min(" + rows + ", int64(4)), int64(0)))";
}

}  // namespace

TEST_CASE("blocks: the test of the rows stands outside of the loop over columns") {
    check_rows("yo * 4 + yi < h", at_most("int64(h) - int64(yo) * int64(4)"),
               "int64(h) - int64(yo) * int64(4) - int64(3) > int64(0)");
}

TEST_CASE(
    "blocks: every order of two numbers is a guard, which holds for all rows where it does for "
    "one at an end") {
    const std::string rows = "int64(h) - int64(yo) * int64(4)";
    for (const char *guard : {"yo * 4 + yi <= h", "h >= yo * 4 + yi"})
        check_rows(guard, at_most(rows + " + int64(1)"), rows + " - int64(2) > int64(0)");
    check_rows("h > yo * 4 + yi", at_most(rows), rows + " - int64(3) > int64(0)");
    // The first row is the last that is left out.
    check_rows("h <= yo * 4 + yi", "4", "int64(yo) * int64(4) - int64(h) + int64(1) > int64(0)",
               "h <= yo * 4 + yi");
}

TEST_CASE("blocks: how many rows there are is known where each row leaves one less") {
    check_rows("yo * 4 + yi * 2 < h", "4", "int64(h) - int64(yo) * int64(4) - int64(6) > int64(0)",
               "yo * 4 + yi * 2 < h");
    check_rows("yo * 4 + yi < h && yi * 2 < w", at_most("int64(h) - int64(yo) * int64(4)"),
               "int64(h) - int64(yo) * int64(4) - int64(3) > int64(0) && "
               "int64(w) - int64(6) > int64(0)",
               "yi * 2 < w");
    check_rows("yo * 4 + yi < h && yo < w", at_most("int64(h) - int64(yo) * int64(4)"),
               "int64(h) - int64(yo) * int64(4) - int64(3) > int64(0) && "
               "int64(w) - int64(yo) > int64(0)",
               "yo < w");
}

TEST_CASE("blocks: the rows may begin anywhere") {
    const std::string first = "for yi in [m, m + 4) unrolled";
    CHECK(separated(in_xo(around(first, in_if("yi < h", store)))) ==
          "let yi.count = " + at_most("int64(h) - int64(m)") + "\n" +
              "if int64(h) - int64(m) - int64(3) > int64(0) {\n" +
              indented(in_xo(around(first, store))) +
              around("} else", in_xo(around("for yi in [m, m + yi.count) unpartitioned", store))));
}

TEST_CASE("blocks: a loop on which the guard depends runs whole blocks first") {
    CHECK(separated(in_yo(in_xo(in_yi(in_if("xo * 4 + yi < w", store))))) ==
          in_yo("let xo.full = int32(max(min(int64(w) / int64(4), int64(3)), int64(0)))\n" +
                around("for xo in [0, xo.full)", in_yi(store)) +
                around("for xo in [xo.full, xo.full + (3 - xo.full)) remainder",
                       "let yi.count = " + at_most("int64(w) - int64(xo) * int64(4)") + "\n" +
                           in_rest(store))));
    // Of two tests, fewer blocks.
    CHECK(
        separated(in_xo(in_yi(in_if("xo < p && xo < q", store))))
            .find("let xo.full = int32(max(min(int64(q), int64(int32(max(min(int64(p), int64(3)), "
                  "int64(0))))), int64(0)))\n") != std::string::npos);
    // Not where the first blocks may not be whole.
    for (const char *guard : {"xo * -4 + yi < w", "xo * xo + yi < w"}) {
        const std::string text = separated(in_yo(in_xo(in_yi(in_if(guard, store)))));
        INFO(text);
        CHECK(text.find("for xo in [0, 3) {\n    let yi.count") != std::string::npos);
    }
}

TEST_CASE("blocks: a partial vector is not unrolled either") {
    const std::string
        column = "xo * 4 + xi < w",
        full = "let xo.full = int32(max(min(int64(w) / int64(4), int64(3)), int64(0)))\n",
        whole = around("for xo in [0, xo.full)", in_yi(in_xi(vector))),
        remainder = "for xo in [xo.full, xo.full + (3 - xo.full)) remainder",
        rest = in_rest(in_xi(in_if(column, vector)));
    CHECK(separated(in_yo(in_xo(in_yi(in_xi(in_if(column, vector)))))) ==
          in_yo("let yi.count = 4\n" + full + whole + around(remainder, rest)));
    CHECK(separated(in_yo(in_xo(in_yi(in_if("yo * 4 + yi < h", in_xi(in_if(column, vector))))))) ==
          in_yo("let yi.count = " + at_most("int64(h) - int64(yo) * int64(4)") + "\n" +
                "if int64(h) - int64(yo) * int64(4) - int64(3) > int64(0) {\n" +
                indented(full + whole + around(remainder, rest)) + around("} else", in_xo(rest))));
}

TEST_CASE("blocks: what is not a guard of all rows stays") {
    check_unchanged(in_yo(in_xo(in_yi(store))));
    check_unchanged(in_yo(in_xo(in_yi(in_xi(vector)))));
    for (const char *guard : {"yo * 4 + yi != h", "flag", "(yo * 4 + yi) * (yo * 4 + yi) < h",
                              "yo * 4 + in[yi] < h", "in[yo] < h", "uint32(yo * 4 + yi) < wrapping",
                              "large < large * large", "yo * 4 + yi < h && yi != w"})
        check_unchanged(in_yo(in_xo(in_yi(in_if(guard, store)))));
    check_unchanged(
        in_yo(in_xo(in_yi("if yo * 4 + yi < h {\n  f[yi] = 1\n} else {\n  f[yi] = 2\n}\n"))));
    check_unchanged(in_yo(in_xo(in_yi("g[yi] = 1\n" + in_if("yo * 4 + yi < h", store)))));
    check_unchanged(in_yo(
        in_xo(in_yi(in_xi("if xo * 4 + xi < w {\n  f[yi] = 1\n} else {\n  f[yi] = 2\n}\n")))));
    check_unchanged(in_yo(in_xo(in_yi(in_xi(in_if("in[xi] < w", vector))))));
}

TEST_CASE(
    "blocks: only an unrolled loop of several iterations, whose number is known, is a block") {
    const std::string guarded = in_if("yo * 4 + yi < h", store);
    for (const char *loop : {"for yi in [0, n) unrolled", "for yi in [0, 1) unrolled",
                             "for yi in [0, 4)", "for yi in [0, 4) vectorized"})
        check_unchanged(in_yo(in_xo(around(loop, guarded))));
    CHECK(separated(in_yo(in_xo(around("for yi in [0, 2) unrolled", guarded))))
              .find("let yi.count") != std::string::npos);
}

TEST_CASE("blocks: the test stands outside of serial loops only") {
    const std::string block = in_yi(in_if("yo * 4 + yi < h", store)), test = "let yi.count = ";
    for (const char *kind : {" parallel", " unrolled"}) {
        const std::string text =
            separated(in_yo(around(std::string("for xo in [0, 3)") + kind, block)));
        INFO(text);
        CHECK(text.find(kind + (" {\n    " + test)) != std::string::npos);
    }
    CHECK(separated(around("for yo in [0, 2) parallel", in_xo(block)))
              .find(" parallel {\n  " + test) != std::string::npos);
}

TEST_CASE("blocks: an array whose elements are to be registers is indexed by constants") {
    auto in_array = [](const std::string &statement) {
        return in_yo(
            around("allocate sums[int32 * 8]", in_xo(in_yi(in_if("yo * 4 + yi < h", statement)))));
    };
    auto is_changed = [&](const std::string &statement) {
        const std::string text = in_array(statement);
        INFO(text);
        return separated(text) != text;
    };
    CHECK_FALSE(is_changed("sums[yi] = in[xo]\n"));
    CHECK_FALSE(is_changed("f[yi + xo] = sums[yi]\n"));
    CHECK_FALSE(is_changed(in_xi("sums[yi * 4 + xi] = in[xo]\n")));
    // Elements that other loops choose, too, are no registers; nor are those that no row chooses.
    const std::string text = separated(in_array("sums[yi + xo] = in[xo]\n"));
    CHECK(text.find("let yi.count") < text.find("for xo"));
    CHECK(is_changed("sums[yi + yo] = in[xo]\n"));
    CHECK(is_changed("sums[0] = in[xo]\n"));
    CHECK(is_changed("f[yi] = in[xo]\n"));
    check_unchanged(in_yo(in_xo(in_yi(
        in_if("yo * 4 + yi < h", "allocate t[int32 * 4] {\n  t[0] = 1\n  f[xo] = t[0]\n}\n")))));
    // Behind the statement that allocates it, the name is another array's.
    const std::string behind = in_yo("allocate sums[int32 * 8] {\n  sums[0] = 1\n}\n" +
                                     in_xo(in_yi(in_if("yo * 4 + yi < h", "sums[yi] = 1\n"))));
    CHECK(separated(behind) != behind);
}

TEST_CASE("blocks: not in kernels") {
    const std::string block = in_xo(in_yi(in_if("yo * 4 + yi < h", store)));
    check_unchanged(around("for yo in [0, 2) gpu_block", block));
    check_unchanged(around("for yo in [0, 2) gpu_thread", block));
}

TEST_CASE("blocks: of a pure definition, the rest has its rows outside") {
    const Var x("x"), y("y");
    Func f("f"), out("out");
    f(x, y) = x + y;
    f(x, y) += 1;
    f.compute_root();
    out(x, y) = f(x, y);
    const language::Frozen frozen = language::freeze({out});
    // The stages of the loop over columns, and of the block.
    auto reorders = [&](const std::string &columns, const std::string &rows,
                        const std::string &statement, const graph::Graph *graph) {
        const std::string now = separated(around("for " + columns + ".x in [0, 30)",
                                                 around("for " + rows + ".yi in [0, 4) unrolled",
                                                        in_if(rows + ".yi < h", statement))),
                                          graph);
        INFO(now);
        const size_t rest = now.find("} else");
        REQUIRE(rest != std::string::npos);
        return now.find(rows + ".yi in", rest) < now.find(columns + ".x in", rest);
    };
    auto pure = [&](const std::string &statement) {
        return reorders("f.s0", "f.s0", statement, &frozen.graph);
    };
    const std::string one = "f[f.s0.x] = 1\n";
    CHECK(pure(one));
    CHECK(pure(one + one));
    CHECK(pure(in_if("p < 3", "let v = f.s0.x\n" + around("for f.s0.z in [0, n)", "f[v] = 1\n"))));
    CHECK_FALSE(pure("other[f.s0.x] = 1\n"));
    CHECK_FALSE(pure(one + "other[f.s0.x] = 1\n"));
    CHECK_FALSE(pure("f[f.s0.x] = print(\"f\", f.s0.x)\n"));
    CHECK_FALSE(pure("prefetch f(f.s0.x)\n"));
    CHECK_FALSE(reorders("f.s0", "f.s0", one, nullptr));
    CHECK_FALSE(reorders("f.s1", "f.s1", "f[f.s1.x] = 1\n", &frozen.graph));
    CHECK_FALSE(reorders("out.s0", "f.s0", "f[out.s0.x] = 1\n", &frozen.graph));
    CHECK_FALSE(reorders("f.s0", "out.s0", one, &frozen.graph));
    // Not where the number of rows differs between columns.
    const std::string rows =
        "let f.s0.yi.count = int32(max(min(int64(int32(max(min(int64(h), int64(4)), int64(0)))), "
        "int64(w) - int64(f.s0.x) * int64(4)), int64(0)))\n" +
        around("for f.s0.yi in [0, f.s0.yi.count) unpartitioned",
               in_if("f.s0.yi + f.s0.x * 4 < w", one));
    const std::string guard = in_if("f.s0.yi < h", in_if("f.s0.yi + f.s0.x * 4 < w", one));
    CHECK(
        separated(around("for f.s0.x in [0, 30)", around("for f.s0.yi in [0, 4) unrolled", guard)),
                  &frozen.graph)
            .ends_with(around("} else", around("for f.s0.x in [0, 30)", rows))));
}

TEST_CASE("blocks: random guards compute the same") {
    std::mt19937 random(1);
    auto below = [&](int n) { return static_cast<int>(random() % static_cast<uint32_t>(n)); };
    auto guard = [&](const Expr &index, const char *inner) {
        const Expr sides[] = {index,    sub(number(7), index), mul(index, number(2)),
                              var("w"), number(below(9)),      var(inner),
                              var("h"), add(index, var("xo"))};
        const Op ops[] = {Op::LT, Op::LE, Op::GT, Op::GE, Op::NE};
        Expr result = make_binary(ops[below(5)], sides[below(8)], sides[below(8)]);
        if (below(3) == 0)
            result = make_binary(below(2) ? Op::And : Op::Or, result, less(index, var("h")));
        return result;
    };
    int separated = 0;
    for (int i = 0; i < 1500; i++) {
        const int rows = 2 + below(3);
        const Expr column = add(mul(var("xo"), number(lanes)), var("xi"));
        const Stmt nest = loop("yo", 2,
                               loop("xo", 3,
                                    block(rows, below(4) ? guard(row(rows), "yi") : Expr(),
                                          below(2) ? guard(column, "xi") : Expr())));
        LoopProgram program{nest, {"out"}};
        const Stmt now = lower::whole_blocks(nest);
        separated += ir::to_string(now) != ir::to_string(nest);
        for (int w : {0, 3, 8}) {
            INFO(i << ", " << w << "\n" << nest << "=>\n" << now);
            REQUIRE(run(program, nest, w, 5) == run(program, now, w, 5));
        }
    }
    CHECK(separated > 500);
}

TEST_CASE("blocks: random programs compute the same") {
    for (uint32_t seed = 1; seed <= 200; seed++) {
        LoopProgram program = random_loops(seed, {.vectorized = true, .rich_bodies = true});
        const Stmt now = lower::whole_blocks(program.body);
        for (auto [w, h] : {std::pair{0, 2}, {1, 1}, {7, 3}, {19, 5}}) {
            INFO("seed " << seed << ", " << w << " x " << h << "\n"
                         << program.body << "=>\n"
                         << now);
            REQUIRE(run(program, program.body, w, h) == run(program, now, w, h));
        }
    }
}
