#include "lower/whole_sums.h"

#include <random>
#include <string>
#include <vector>

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

/// What a guard tests of the row and of the column, and of the terms of a sum; "": nothing.
struct Guards {
    std::string row, column, terms = {};
};

std::string in_if(const std::string &condition, const std::string &body) {
    return condition.empty() ? body : around("if " + condition, body);
}

/// Sums of a block of rows of a vector, of this type: set, added to, and stored.
std::string sums_of(const std::string &type, const Guards &guards, int rows = 2,
                    const std::string &k = "for k in [0, n)") {
    const std::string count = std::to_string(rows);
    auto block = [&](const std::string &statement) {
        return around("for yi in [0, " + count + ") unrolled",
                      in_if(guards.row, around("for xi in [0, 4) vectorized",
                                               in_if(guards.column, statement))));
    };
    const std::string at = "(yo * " + count + " + yi) * 48 + xo * 4 + xi";
    return around("allocate sums[" + type + " * " + std::to_string(4 * rows) + "]",
                  block("sums[yi * 4 + xi] = " + type + "(1)\n") +
                      around(k, block("sums[yi * 4 + xi] = sums[yi * 4 + xi] + " + type + "(in[" +
                                      at + "])\n")) +
                      block("out[" + at + "] = int32(sums[yi * 4 + xi])\n"));
}

/// The same of `vectors` vectors in each row.
std::string sums_of_vectors(const std::string &type, const Guards &guards, int rows, int vectors,
                            const std::string &k = "for k in [0, n)") {
    const std::string width = std::to_string(4 * vectors), count = std::to_string(rows);
    const auto block = [&](const std::string &statement, const std::string &also = "") {
        const std::string column =
            guards.column + (also.empty() || guards.column.empty() ? "" : " && ") + also;
        return around(
            "for yi in [0, " + count + ") unrolled",
            in_if(guards.row,
                  around("for xu in [0, " + std::to_string(vectors) + ") unrolled",
                         around("for xi in [0, 4) vectorized", in_if(column, statement)))));
    };
    const std::string at = "(yo * " + count + " + yi) * 60 + xo * " + width + " + (xu * 4 + xi)";
    const std::string sum = "sums[yi * " + width + " + (xu * 4 + xi)]";
    return around("allocate sums[" + type + " * " + std::to_string(4 * vectors * rows) + "]",
                  block(sum + " = " + type + "(1)\n") +
                      around(k, block(sum + " = " + sum + " + " + type + "(in[" + at + "])\n",
                                      guards.terms)) +
                      block("out[" + at + "] = int32(" + sum + ")\n"));
}

Stmt nest_of(const std::string &body) {
    return parse_stmt(around("for yo in [0, 2)", around("for xo in [0, 3)", body)));
}

std::string text_of(const Stmt &nest, const Target &target = avx512) {
    return ir::to_string(lower::whole_sums(nest, &target));
}

bool is_separated(const Stmt &nest, const Target &target = avx512) {
    return text_of(nest, target) != ir::to_string(nest);
}

size_t count(const std::string &text, const std::string &part) {
    size_t n = 0;
    for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
        n++;
    return n;
}

}  // namespace

TEST_CASE("whole blocks of sums have no guards, others are computed row by row", "[sums]") {
    const std::string now = text_of(nest_of(sums_of("int32", {"yo * 2 + yi < h", ""})));
    INFO(now);
    const size_t whole = now.find("allocate sums"), partial = now.find("} else {");
    REQUIRE(whole != std::string::npos);
    REQUIRE(partial != std::string::npos);
    const std::string test = now.substr(0, whole), block = now.substr(whole, partial - whole),
                      rows = now.substr(partial);
    CHECK(count(test, "if ") == 1);
    CHECK(count(block, "if ") == 0);
    CHECK(count(block, "for yi in [0, 2) unrolled") == 3);
    // One test of the row, around its array.
    CHECK(count(rows, "for yi in [0, 2) remainder") == 1);
    CHECK(count(rows, "if yo * 2 + yi < h") == 1);
    CHECK(rows.find("if yo * 2 + yi < h") < rows.find("allocate sums"));
    CHECK(count(rows, "sums[xi]") == 4);
}

TEST_CASE("a block with masks stays as it is where it is not whole", "[sums]") {
    const std::string now =
        text_of(nest_of(sums_of("int32", {"yo * 2 + yi < h", "xo * 4 + xi < w"})));
    INFO(now);
    const size_t partial = now.find("} else {");
    REQUIRE(partial != std::string::npos);
    CHECK(count(now.substr(0, partial), "if ") == 1);
    CHECK(count(now.substr(partial), "if yo * 2 + yi < h") == 3);
    CHECK(count(now.substr(partial), "if xo * 4 + xi < w") == 3);
    CHECK(count(now.substr(partial), "for yi in [0, 2) unrolled") == 3);
    CHECK(count(now.substr(partial), "for k in [0, n) remainder") == 1);
}

TEST_CASE("vectors of a block at an edge are computed by halves, by themselves, or not at all",
          "[sums]") {
    const Guards guards{"yo * 2 + yi < h", "xo * 12 + (xu * 4 + xi) < w"};
    const std::string now = text_of(nest_of(sums_of_vectors("int32", guards, 2, 3)));
    INFO(now);
    const size_t edge = now.find("for xu.half in [0, 2) remainder");
    REQUIRE(edge != std::string::npos);
    const size_t singles = now.find("for xu in [", edge);
    CHECK(now.find("if ", edge) < now.find("for xu in [0, 2) unrolled", edge));
    REQUIRE(singles != std::string::npos);
    const std::string last = now.substr(now.find("for xu in [xu.half"));
    // Whole, partial, nothing.
    CHECK(count(last, "allocate sums") >= 2);
    CHECK(count(last, "if xo * 12") == 3);  // masks of one version
    // Of two vectors, each stands alone.
    const Guards two{"", "xo * 8 + (xu * 4 + xi) < w"};
    const std::string pair = text_of(nest_of(sums_of_vectors("int32", two, 2, 2)));
    CHECK(pair.find("half") == std::string::npos);
    CHECK(pair.find("for xu in [0, 2) remainder") != std::string::npos);
}

TEST_CASE("where both conditions of a test outside failed, no block is whole", "[sums]") {
    const std::string block = sums_of("int32", {"yi < h - yo * 2", "xi < w - xo * 4"});
    const std::string now = text_of(nest_of(
        "if 2 <= h - yo * 2 && 4 <= w - xo * 4 {\n  out[0] = 1\n} else {\n" + block + "}\n"));
    INFO(now);
    CHECK(count(now, "allocate sums") == 1);
}

TEST_CASE("half of the rows of a large block are computed together where all of them are needed",
          "[sums]") {
    const std::string now = text_of(nest_of(sums_of("int32", {"yo * 4 + yi < h", ""}, 4)));
    INFO(now);
    CHECK(count(now, "for yi.half in [0, 2) remainder") == 1);
    CHECK(count(now, "for yi in [0, 4) unrolled") == 3);
    CHECK(count(now, "for yi in [0, 2) unrolled") == 3);
    CHECK(count(now, "remainder") == 2);
}

TEST_CASE("sums of bytes are not unrolled at an edge where vectors have no masks", "[sums]") {
    const Stmt nest = nest_of(sums_of("uint8", {"yo * 2 + yi < h", "xo * 4 + xi < w"}));
    const std::string now = text_of(nest, avx2);
    const size_t partial = now.find("} else {");
    REQUIRE(partial != std::string::npos);
    CHECK(now.find("unrolled") < partial);
    CHECK(now.find("unrolled", partial) == std::string::npos);
}

TEST_CASE("blocks of sums stay as they are where a test outside is not possible, or not worth it",
          "[sums]") {
    const Guards guards{"yo * 2 + yi < h", ""};
    CHECK(is_separated(nest_of(sums_of("int32", guards))));
    CHECK_FALSE(is_separated(nest_of(sums_of("int32", {"", ""}))));
    CHECK_FALSE(is_separated(nest_of(sums_of("int32", {"in[yi] < h", ""}))));
    CHECK_FALSE(is_separated(nest_of(sums_of("int32", {"yi * yi < h", ""}))));
    CHECK_FALSE(is_separated(nest_of(sums_of("int32", guards, 2, "for k in [0, 3)"))));
    // What a row reads of another one.
    std::string shared = sums_of("int32", guards);
    shared.replace(shared.find("in[(yo"), 3, "out[");
    CHECK(is_separated(nest_of(shared)));  // its own element
    shared.replace(shared.find("out[(yo"), 4, "out[1 + ");
    CHECK_FALSE(is_separated(nest_of(shared)));
    // A guard that the loop over k decides stays in it.
    std::string of_k = sums_of("int32", guards);
    const std::string sum = "sums[yi * 4 + xi] = sums";
    of_k.insert(of_k.find(sum), "if k < w {\n");
    of_k.insert(of_k.find("\n", of_k.find(sum)) + 1, "}\n");
    const std::string now = text_of(nest_of(of_k));
    INFO(now);
    CHECK(count(now, "if k < w") == 2);
    CHECK(now.find("k <") > now.find("for k in"));
}

TEST_CASE("a guard that is another one for each iteration of a serial loop stays in it", "[sums]") {
    // The end of a sum over k by vectors.
    const Stmt dot = nest_of(around(
        "allocate sums[int32 * 4]",
        around("for ki in [0, 4) vectorized", "sums[ki] = 0\n") +
            around("for k in [0, 13)",
                   around("for ki in [0, 4) vectorized",
                          around("if k * 4 + ki < 50", "sums[ki] = sums[ki] + in[k * 4 + ki]\n"))) +
            around("for ki in [0, 4) vectorized", "out[ki] = sums[ki]\n")));
    CHECK_FALSE(is_separated(dot));
    // An array that is used anew for each k: the rows stay inside.
    const std::string row =
        around("for yi in [0, 2) unrolled", "if k * 2 + yi < h && yo < 1 {\n  STORE\n}\n");
    auto stores = [&](const std::string &store) {
        std::string now = row;
        return now.replace(now.find("STORE"), 5, store);
    };
    const Stmt anew =
        nest_of(around("allocate sums[int32 * 2]",
                       around("for k in [0, n)", stores("sums[yi] = in[k * 2 + yi]") +
                                                     stores("out[k * 2 + yi] = sums[yi]"))));
    CHECK_FALSE(is_separated(anew));
}

TEST_CASE("where a test outside failed, no block is whole", "[sums]") {
    const std::string block = sums_of("int32", {"yi < h - yo * 2", ""});
    const std::string now =
        text_of(nest_of(around("if 2 <= h - yo * 2", "out[0] = 1\n") + "else {\n" + block + "}\n"));
    CHECK(count(now, "} else {") <= 1);
    CHECK(count(now, "allocate sums") == 1);
    CHECK(count(now, "unrolled") == 0);
}

TEST_CASE("of guards that differ by a constant, the test outside has the stronger one", "[sums]") {
    for (const char *row :
         {"yo * 2 + yi < h && yo * 2 + yi + 5 < h", "yo * 2 + yi + 5 < h && yo * 2 + yi < h"}) {
        const std::string now = text_of(nest_of(sums_of("int32", {row, ""})));
        INFO(now);
        CHECK(count(now.substr(0, now.find("allocate")), "int64(6)") == 1);
    }
    // Blocks are whole where a stronger test outside failed.
    const std::string block = sums_of("int32", {"yi < h - yo * 2", ""});
    const std::string now =
        text_of(nest_of("if 3 <= h - yo * 2 {\n  out[0] = 1\n} else {\n" + block + "}\n"));
    INFO(now);
    CHECK(count(now, "allocate sums") == 2);
}

TEST_CASE("random guards of blocks of sums compute the same", "[sums]") {
    std::mt19937 random(1);
    auto one_of = [&](std::initializer_list<const char *> choices) {
        return std::string(choices.begin()[random() % choices.size()]);
    };
    int separated = 0;
    for (int i = 0; i < 600; i++) {
        const Guards guards{
            one_of({"", "yo * 4 + yi < h", "yo * 4 + yi <= h - 1", "h > yi + yo", "yi < 1",
                    "yo * 4 + yi < h && xo < w", "yo * 4 + yi < h && yo * 4 + yi + 2 < h",
                    "yo + yi > w - 3", "5 - yi >= yo + w"}),
            one_of({"", "xo * 4 + xi < w", "xo * 4 + xi + yi < w", "xi < w && xo * 4 < h",
                    "w - xi > xo * 4", "xo * 4 + xi < w + yo", "xo * 4 - xi < w"})};
        const Target &target = i % 2 ? avx2 : avx512;
        const LoopProgram program{
            nest_of(sums_of(i % 2 ? "uint8" : "int32", guards, i % 3 + 2, "for k in [0, w)")),
            {"out"}};
        const Stmt now = lower::whole_sums(program.body, &target);
        separated += ir::to_string(now) != ir::to_string(program.body);
        for (auto [w, h] : {std::pair{0, 2}, {1, 1}, {7, 3}, {12, 4}, {19, 7}}) {
            INFO(i << ", " << w << " x " << h << "\n" << program.body << "=>\n" << now);
            REQUIRE(run(program, program.body, w, h) == run(program, now, w, h));
        }
    }
    CHECK(separated > 200);
}

TEST_CASE("random guards of blocks of several vectors compute the same", "[sums]") {
    std::mt19937 random(2);
    auto one_of = [&](const std::vector<std::string> &choices) {
        return choices[random() % choices.size()];
    };
    int separated = 0;
    for (int i = 0; i < 300; i++) {
        const int vectors = 2 + i % 4;
        const std::string x = "xo * " + std::to_string(4 * vectors) + " + (xu * 4 + xi)";
        const Guards guards{
            one_of({"", "yo * 4 + yi < h", "yo + yi > w - 3"}),
            one_of({x + " < w", x + " <= w - 1", x + " < w + yo", "w > " + x,
                    x + " < w && xo * 4 < h", x + " + yi < w", "0 <= " + x + " - w"}),
            one_of({"", "", x + " >= yo * 4 + yi", "k < h", x + " > k"})};
        const Target &target = i % 2 ? avx2 : avx512;
        const LoopProgram program{nest_of(sums_of_vectors(i % 2 ? "uint8" : "int32", guards,
                                                          i % 3 + 1, vectors, "for k in [0, w)")),
                                  {"out"}};
        const Stmt now = lower::whole_sums(program.body, &target);
        separated += ir::to_string(now) != ir::to_string(program.body);
        for (auto [w, h] : {std::pair{0, 2}, {1, 1}, {7, 3}, {12, 4}, {19, 7}, {28, 2}}) {
            INFO(i << ", " << w << " x " << h << "\n" << program.body << "=>\n" << now);
            REQUIRE(run(program, program.body, w, h) == run(program, now, w, h));
        }
    }
    CHECK(separated > 200);
}
