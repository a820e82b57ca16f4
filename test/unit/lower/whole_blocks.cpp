#include "lower/whole_blocks.h"

#include <random>

#include <catch2/catch_test_macros.hpp>

#include "ir/print.h"
#include "ir/simplify.h"
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

std::string text_of(const Stmt &s) {
    return ir::to_string(simplify(s));
}

size_t count(const std::string &text, const std::string &part) {
    size_t n = 0;
    for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
        n++;
    return n;
}

}  // namespace

TEST_CASE("blocks: the test of the rows stands outside of the loop over columns") {
    const Stmt nest = loop("yo", 2, loop("xo", 3, block(4, less(row(4), var("h")), Expr())));
    const std::string text = text_of(lower::whole_blocks(nest));
    INFO(text);
    const size_t test = text.find("if int64(yo) * int64(4) < int64(h) - int64(3)"),
                 whole = text.find("for xo", test), rest = text.find("for xo", whole + 1);
    REQUIRE(test != std::string::npos);
    REQUIRE(rest != std::string::npos);
    CHECK(text.substr(whole, rest - whole).find("unrolled") != std::string::npos);
    CHECK(text.substr(whole, rest - whole).find("if") == std::string::npos);
    CHECK(text.substr(rest).find("unrolled") == std::string::npos);
}

TEST_CASE("blocks: a partial vector is not unrolled either") {
    const Expr column = add(mul(var("xo"), number(lanes)), var("xi"));
    const Stmt nest =
        loop("yo", 2, loop("xo", 3, block(4, less(row(4), var("h")), less(column, var("w")))));
    const std::string text = text_of(lower::whole_blocks(nest));
    INFO(text);
    CHECK(count(text, "unrolled") == 1);
    CHECK(count(text, "let xo.full = ") == 1);
    CHECK(count(text, "for xo in [0, xo.full)") == 1);
}

TEST_CASE("blocks: what is not guarded, or whose elements become registers, stays") {
    const Stmt bare = loop("xo", 3, block(4, Expr(), Expr()));
    CHECK(text_of(lower::whole_blocks(bare)) == text_of(bare));

    const Stmt sums = make_for(
        "yi", number(0), number(4), LoopKind::Unrolled,
        make_if(less(row(4), var("h")),
                make_store("sums", var("yi"), add(load("sums", var("yi")), load("in", var("k"))))));
    const Stmt update =
        make_allocate("sums", Int(32), {number(4)}, MemoryType::Auto, loop("k", 3, sums));
    CHECK(text_of(lower::whole_blocks(update)) == text_of(update));

    const Stmt kernel = make_for("yo", number(0), number(2), LoopKind::GPUBlock,
                                 loop("xo", 3, block(4, less(row(4), var("h")), Expr())));
    CHECK(text_of(lower::whole_blocks(kernel)) == text_of(kernel));
}

TEST_CASE("blocks: a guard that may hold in the middle alone stays") {
    const Expr middle = less(mul(row(4), row(4)), var("h"));
    const Stmt nest = loop("yo", 2, loop("xo", 3, block(4, middle, Expr())));
    CHECK(text_of(lower::whole_blocks(nest)) == text_of(nest));
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
