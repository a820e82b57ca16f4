// whole_blocks of arrays whose elements are to be registers, where vectors have no masks.
#include "lower/whole_blocks.h"

#include <random>

#include <catch2/catch_message.hpp>
#include <catch2/catch_test_macros.hpp>

#include "ir/print.h"
#include "support/parse_ir.h"
#include "unit/lower/nest_text.h"
#include "unit/lower/random_loops.h"

using namespace Pipe;
using namespace Pipe::ir;
using namespace Pipe::testing;

namespace {

const Target avx2("x86-64-linux-avx2-fma-f16c"), avx512("x86-64-linux-avx512_skylake");

/// What a guard tests of the row and of the column; "": nothing.
struct Guards {
    std::string row = "yo * 4 + yi < h", column = "xo * 4 + xi < w";
};

std::string in_if(const std::string &condition, const std::string &body) {
    return condition.empty() ? body : around("if " + condition, body);
}

/// Sums of a block of 2 vectors, of this type: set, added to, and stored.
std::string sums_of(const std::string &type, const Guards &guards) {
    auto block = [&](const std::string &statement) {
        return around("for yi in [0, 2) unrolled",
                      in_if(guards.row, around("for xi in [0, 4) vectorized",
                                               in_if(guards.column, statement))));
    };
    const std::string at = "yo * 96 + yi * 48 + xo * 4 + xi";
    return around("allocate sums[" + type + " * 8]",
                  block("sums[yi * 4 + xi] = " + type + "(1)\n") +
                      around("for k in [0, 3)", block("sums[yi * 4 + xi] = sums[yi * 4 + xi] + " +
                                                      type + "(in[" + at + "])\n")) +
                      block("out[" + at + "] = int32(sums[yi * 4 + xi])\n"));
}

Stmt nest_of(const std::string &body) {
    return parse_stmt(around("for yo in [0, 2)", around("for xo in [0, 3)", body)));
}

bool is_separated(const Stmt &nest, const Target &target) {
    return ir::to_string(lower::whole_blocks(nest, nullptr, &target)) != ir::to_string(nest);
}

}  // namespace

TEST_CASE("blocks: an array is separated with all that uses it where vectors have no masks") {
    const Guards guards{"yo * 2 + yi < h"};
    const std::string now =
        ir::to_string(lower::whole_blocks(nest_of(sums_of("uint8", guards)), nullptr, &avx2));
    INFO(now);
    // All rows: whole vectors first, without a guard; then the rest, in which no loop is unrolled.
    const size_t whole = now.find("for xo in [0, xo.full) {"),
                 rest = now.find("for xo in [xo.full, xo.full + (3 - xo.full)) remainder"),
                 partial = now.find("} else {");
    REQUIRE(whole != std::string::npos);
    REQUIRE(rest != std::string::npos);
    REQUIRE(partial != std::string::npos);
    CHECK(now.find("if ", whole) > rest);
    CHECK(now.find("for yi in [0, 2) unrolled", whole) < rest);
    CHECK(now.find("unrolled", rest) == std::string::npos);
    CHECK(now.find("for yi in [0, 2) remainder", rest) < partial);
    CHECK(now.find("if yo * 2 + yi < h", partial) != std::string::npos);
}

TEST_CASE("blocks: an array stays whole where its guards cannot be tested outside") {
    const Guards guards{"yo * 2 + yi < h"};
    const Stmt bytes = nest_of(sums_of("uint8", guards));
    CHECK(is_separated(bytes, avx2));
    CHECK_FALSE(is_separated(bytes, avx512));
    CHECK_FALSE(is_separated(nest_of(sums_of("int32", guards)), avx2));
    CHECK_FALSE(is_separated(nest_of(sums_of("uint8", {"in[yi] < h"})), avx2));
    CHECK_FALSE(is_separated(nest_of(sums_of("uint8", {"yi * yi < h"})), avx2));
    CHECK_FALSE(is_separated(nest_of(sums_of("uint8", {"", "xo * 4 + xi > w"})), avx2));
    CHECK_FALSE(is_separated(nest_of(sums_of("uint8", {"", ""})), avx2));
    CHECK_FALSE(is_separated(nest_of(sums_of("uint8", guards) + "out[0] = 1\n"), avx2));
    // Without a serial loop around.
    CHECK_FALSE(
        is_separated(parse_stmt("let xo = 1\nlet yo = 1\n" + sums_of("uint8", guards)), avx2));
    // A guard that a loop of unknown extent decides.
    std::string text = sums_of("uint8", {"yo * 2 + yi + k < h"});
    text = text.replace(text.find("for k in [0, 3)"), 15, "for k in [0, h)");
    CHECK_FALSE(is_separated(
        parse_stmt("let k = 0\n" + around("for yo in [0, 2)", around("for xo in [0, 3)", text))),
        avx2));
}

TEST_CASE("blocks: random guards of arrays compute the same") {
    std::mt19937 random(1);
    auto one_of = [&](std::initializer_list<const char *> choices) {
        return std::string(choices.begin()[random() % choices.size()]);
    };
    int separated = 0;
    for (int i = 0; i < 400; i++) {
        const Guards guards{
            one_of({"", "yo * 2 + yi < h", "yo * 2 + yi <= h - 1", "h > yi + yo", "yi < 1",
                    "yo * 2 + yi < h && xo < w", "yo + yi > w - 3", "5 - yi >= yo + w"}),
            one_of({"", "xo * 4 + xi < w", "xo * 4 + xi + yi < w", "xi < w && xo * 4 < h",
                    "w - xi > xo * 4", "xo * 4 + xi < w + yo", "xo * 4 - xi < w"})};
        const LoopProgram program{nest_of(sums_of("uint8", guards)), {"out"}};
        const Stmt now = lower::whole_blocks(program.body, nullptr, &avx2);
        separated += ir::to_string(now) != ir::to_string(program.body);
        for (auto [w, h] : {std::pair{0, 2}, {1, 1}, {7, 3}, {12, 4}, {19, 5}}) {
            INFO(i << ", " << w << " x " << h << "\n" << program.body << "=>\n" << now);
            REQUIRE(run(program, program.body, w, h) == run(program, now, w, h));
        }
    }
    CHECK(separated > 150);
}
