#include "lower/partition_loops.h"

#include <algorithm>

#include <catch2/catch_message.hpp>
#include <catch2/catch_test_macros.hpp>

#include "ir/intrinsics.h"
#include "ir/print.h"
#include "ir/simplify.h"
#include "lower/lanes.h"
#include "lower/unroll_loops.h"
#include "lower/vectorize_loops.h"
#include "support/interpret.h"
#include "support/parse_ir.h"
#include "support/require_message.h"
#include "unit/lower/nest_text.h"
#include "unit/lower/random_loops.h"

using namespace Pipe;
using namespace Pipe::ir;
using namespace Pipe::testing;

namespace {

const Expr x = var("x"), y = var("y"), w = var("w"), h = var("h");

std::string partitioned(const Stmt &s) {
    return ir::to_string(simplify(lower::partition_loops(lower::vectorize_loops(s))));
}

std::string parted(const std::string &text) {
    return ir::to_string(lower::partition_loops(parse_stmt(text, {{"far", Int(64)}})));
}
void check_unchanged(const std::string &text) {
    INFO(text);
    CHECK(parted(text) == text);
}
std::string in_x(const std::string &body) {
    return around("for x in [0, n)", body);
}
std::string in_y(const std::string &body) {
    return around("for y in [0, n) parallel", body);
}
/// The body of a parallel loop in two versions.
std::string two(const std::string &steady, const std::string &general,
                const std::string &condition = "y >= y.first") {
    return "if " + condition + " {\n" + indented(steady) + around("} else", general);
}

/// How much is left in a text that the steady state should be free of.
int decisions(const std::string &text) {
    int count = 0;
    for (const char *word :
         {"min(", "max(", "select(", " if ", "if ", "mask", " < ", " <= ", "likely"})
        for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1))
            count++;
    return count;
}

/// The body of the first loop in the text that begins with `head`, without its braces.
std::string body_of(const std::string &text, const std::string &head) {
    size_t start = text.find(head);
    REQUIRE(start != std::string::npos);
    size_t indent = start - text.rfind('\n', start) - 1;
    start = text.find('\n', start) + 1;
    return text.substr(start, text.find("\n" + std::string(indent, ' ') + "}", start) + 1 - start);
}

}  // namespace

TEST_CASE("partition: prologue, steady state and epilogue of an innermost loop") {
    const std::string general = "out[x] = in[max(x - 1, 0)] + in[min(x + 1, w - 1)]\n";
    CHECK(parted(in_x(general)) == "let x.begin = max(min(n, 1), 0)\n"
                                   "let x.end = max(x.begin, min(n, w - 1))\n" +
                                       around("for x in [0, x.begin)", general) +
                                       around("for x in [x.begin, x.begin + (x.end - x.begin))",
                                              "out[x] = in[x - 1] + in[x + 1]\n") +
                                       around("for x in [x.end, x.end + (n - x.end))", general));
}

TEST_CASE(
    "partition: a loop that is different at one end has two parts, or one where no more is done") {
    const std::string left = "out[x] = in[max(x - 1, 0)]\n", right = "out[x] = in[min(x + 1, w)]\n",
                      until_3 = "if x < 3 {\n  out[x] = 1\n}\n";
    CHECK(parted(in_x(left)) ==
          "let x.begin = max(min(n, 1), 0)\n" + around("for x in [0, x.begin)", left) +
              around("for x in [x.begin, x.begin + (n - x.begin))", "out[x] = in[x - 1]\n"));
    CHECK(parted(in_x(right)) == "let x.end = max(min(n, w), 0)\n" +
                                     around("for x in [0, x.end)", "out[x] = in[x + 1]\n") +
                                     around("for x in [x.end, x.end + (n - x.end))", right));
    CHECK(parted(in_x(until_3)) ==
          "let x.begin = max(min(n, 3), 0)\n" + around("for x in [0, x.begin)", until_3));
    CHECK(parted(in_y("if y < 3 {\n  out[y] = 1\n}\n")) ==
          "let y.first = 3\n" +
              in_y("if !(y >= y.first) {\n  if y < 3 {\n    out[y] = 1\n  }\n}\n"));
}

TEST_CASE("partition: ends that are known as int64 only are clamped to the loop") {
    const std::string general = "out[x] = in[max(far, int64(x))]\n";
    CHECK(parted(in_x(general)) ==
          "let x.begin = int32(max(min(far, int64(n)), int64(0)))\n" +
              around("for x in [0, x.begin)", general) +
              around("for x in [x.begin, x.begin + (n - x.begin))", "out[x] = in[int64(x)]\n"));
    CHECK(parted(in_y("out[y] = in[max(far, int64(y))]\n")) ==
          "let y.first = far\n" +
              in_y(two("out[y] = in[int64(y)]\n", "out[y] = in[max(far, int64(y))]\n",
                       "int64(y) >= y.first")));
}

TEST_CASE("partition: short loops, kernels, and loops whose bounds are in memory stay") {
    for (const char *loop :
         {"for x in [0, 3)", "for x in [0, n) unpartitioned", "for x in [0, n) remainder",
          "for x in [0, n) gpu_block", "for x in [0, n) gpu_thread", "for x in [0, m[0])",
          "for x in [m[0], m[0] + n)"})
        check_unchanged(around(loop, "out[x] = in[max(x - 1, 0)]\n"));
    check_unchanged(in_x("out[x] = in[x]\n"));
    // In them, others are looked at.
    CHECK(parted("for y in [0, 3) {\n" + indented(in_x("out[x] = in[max(x - 1, 0)]\n")) + "}\n") ==
          "for y in [0, 3) {\n" + indented(parted(in_x("out[x] = in[max(x - 1, 0)]\n"))) + "}\n");
}

TEST_CASE("partition: a loop that must be partitioned is, short or not, or is refused") {
    const std::string left = "out[x] = in[max(x - 1, 0)]\n";
    CHECK(parted(around("for x in [0, 3) partitioned", left)) ==
          "let x.begin = 1\n" + around("for x in [0, x.begin)", left) +
              around("for x in [x.begin, x.begin + (3 - x.begin))", "out[x] = in[x - 1]\n"));
    for (const char *body : {"out[x] = in[x]\n", "out[x] = in[max(m[x], 0)]\n"})
        require_message<CompileError>(
            [&] { parted(around("for x in [0, n) partitioned", body)); },
            {"always_partition of x", "nothing in the loop is different"});
    // Once is enough: here, in the steady state of the loop around.
    CHECK_NOTHROW(parted(around("for y in [0, n) partitioned",
                                "out[y] = in[max(y - 1, 0)]\n" +
                                    around("for x in [0, n) partitioned",
                                           "out[x] = select(y < 1, x, in[max(x - 2, 0)])\n"))));
    require_message<CompileError>(
        [&] {
            parted(around("for y in [0, n)",
                          "out[y] = in[max(y - 1, 0)]\n" +
                              around("for x in [0, n) partitioned",
                                     "out[x] = select(1 <= y, x, in[max(x - 2, 0)])\n")));
        },
        {"always_partition of x"});
}

TEST_CASE("partition: in two versions of a body, what both have in common stands once") {
    const std::string head = "let y.first = 1\n", one = "out[y] = in[max(y - 1, 0)]\n",
                      other = "out[y + 1] = in[max(y - 1, 0)]\n", steady = "out[y] = in[y - 1]\n",
                      steady_other = "out[y + 1] = in[y - 1]\n", same = "g[y] = 1\n";
    CHECK(parted(in_y(same + one + other + same + one)) ==
          head + in_y(same + two(steady + steady_other, one + other) + same + two(steady, one)));
    for (const char *outer : {"allocate t[int32 * 4]", "allocate t[int32 * max(y - 1, 0)]",
                              "produce out", "consume out"})
        CHECK(parted(in_y(around(outer, same + one))) ==
              head + in_y(around(outer, same + two(steady, one))));
    for (const char *outer : {"if p < 3", "exclusive out"})
        CHECK(parted(in_y(around(outer, same + one))) ==
              head + in_y(two(around(outer, same + steady), around(outer, same + one))));
    // A statement that the steady state has not.
    const std::string until_1 = "if y < 1 {\n  out[y] = 1\n}\n",
                      outside = around("if !(y >= y.first)", until_1);
    CHECK(parted(in_y(until_1 + same)) == head + in_y(outside + same));
    CHECK(parted(in_y(same + until_1 + same)) == head + in_y(same + outside + same));
    // One that it has several of.
    CHECK(parted(in_y(same + around("if 1 <= y", one + other))) ==
          head + in_y(same + two(steady + steady_other, around("if 1 <= y", one + other))));
}

TEST_CASE("partition: a vector whose name stands for its first lane has no uses as a vector left") {
    // (Nothing is saved in the loop over x: a mask decides there, which is decided further out.)
    const std::string loop =
        around("for x in [0, w)", "out[v] = broadcast(1, 4) if m\ng[x] = in[x]\n");
    const std::string now =
        parted(in_y("let v = max(ramp(y * 4 - 4, 1, 4), broadcast(0, 4))\n"
                    "let m = broadcast(y < 1, 4)\n" +
                    around("for z in [0, w)", "h[z] = in[max(y - 1, 0) + max(z, y)]\n") + loop +
                    "h[v] = broadcast(2, 4)\n"));
    INFO(now);
    CHECK(now.find("let v = y * 4 - 4\n") != std::string::npos);
    const size_t steady = now.find("let v = y * 4 - 4\n"), general = now.find("} else {", steady);
    REQUIRE(general != std::string::npos);
    CHECK(now.substr(steady, general - steady).find("out[v]") == std::string::npos);
}

TEST_CASE("partition: loops around what differs stand once, with a test in each iteration") {
    const std::string head = "let y.first = 1\n", row = "in[max(y - 1, 0) * 9 + x]",
                      same = around("for x in [0, w)", "g[x] = in[x]\n");
    auto pixels = [](const std::string &value) {
        return around("for x in [0, w)", "out[x] = in[" + value + "]\n");
    };
    // One clamp in each iteration is not worth a version of a row; a mask is.
    CHECK(parted(in_y(around("for z in [0, n)", same + pixels("max(y - 1, 0) * 9 + x")))) ==
          in_y(around("for z in [0, n)", same + pixels("max(y - 1, 0) * 9 + x"))));
    const std::string masked = "out[ramp(x, 1, 8)] = broadcast(1, 8) if broadcast(1 <= y, 8)\n",
                      clean = "out[ramp(x, 1, 8)] = broadcast(1, 8)\n";
    const std::string inner = around("for x in [0, w)", masked);
    CHECK(parted(in_y(around("for z in [0, n)", same + inner))) ==
          head +
              in_y(around("for z in [0, n)", same + two(around("for x in [0, w)", clean), inner))));
}

TEST_CASE(
    "partition: a let around both versions has its general value; the steady one has a name") {
    const std::string head = "let y.first = 1\n", general = "let v = max(y - 1, 0)\n",
                      one = "out[y] = in[v] + in[max(y - 1, 0)]\n";
    CHECK(parted(in_y(general + "g[y] = 1\n" + one)) ==
          head + in_y(general + "g[y] = 1\n" +
                      two("let v.steady = y - 1\nout[y] = in[v.steady] + in[y - 1]\n", one)));
    // Behind it, the name has its value; where it is not used, none is needed.
    const std::string two_lets = "{\n" +
                                 indented(general + "g[y] = 1\nout[y] = in[max(y - 1, 0)]\n") +
                                 "}\n" + "out[y + v] = in[max(y - 1, 0)]\n";
    CHECK(parted(in_y("g[y] = 1\n" + two_lets)).find("v.steady") == std::string::npos);
    // What may not be computed twice, or later, is in both versions.
    for (const char *value : {"max(y - 1, 0) + in[0]", "max(y - 1, 0) + print(\"y\", 1)"}) {
        const std::string in_memory = std::string("let v = ") + value + "\n",
                          steady = std::string("let v = y - 1") + (value + 13) + "\n";
        CHECK(parted(in_y(in_memory + "g[y] = 1\nout[y] = v\n")) ==
              head + in_y(two(steady + "g[y] = 1\nout[y] = v\n",
                              in_memory + "g[y] = 1\nout[y] = v\n")));
    }
    // A let that is the same in both.
    for (const std::string let : {"let v = y * 2\n", "let v = in[y]\n"})
        CHECK(parted(in_y(let + "g[y] = v\nout[y] = in[max(y - 1, 0)] + v\n")) ==
              head + in_y(let + "g[y] = v\n" +
                          two("out[y] = in[y - 1] + v\n", "out[y] = in[max(y - 1, 0)] + v\n")));
}

TEST_CASE(
    "partition: the steady version is partitioned inside, of the other one only innermost loops") {
    const std::string text = parted(
        in_y(around("for x in [0, n)",
                    around("for z in [0, n)", "out[x] = select(y < 1, 0, in[z]) + "
                                              "select(x < 1, 0, in[z]) + in[max(z - 1, 0)]\n"))));
    INFO(text);
    const size_t edge = text.find("\n  } else {\n");
    REQUIRE(edge != std::string::npos);
    CHECK(text.substr(0, edge).find("x.first") != std::string::npos);
    CHECK(text.find("x.first", edge) == std::string::npos);
    CHECK(text.find("z.first", edge) != std::string::npos);
    CHECK(text.find("z.begin", edge) == std::string::npos);  // a test, not three loops
}

TEST_CASE("partition: bodies above a size stay, or have two versions instead of three loops") {
    auto body = [](int statements, const std::string &first) {
        std::string result = first;
        for (int i = 0; i < statements; i++)
            result += "g[x + " + std::to_string(i) + "] = in[x + " + std::to_string(i) + "] * p\n";
        return result;
    };
    const std::string left = "out[x] = in[max(x - 1, 0)]\n",
                      ends = "out[x] = in[max(x - 1, 0)] + in[min(x + 1, w)]\n";
    auto has = [](const std::string &text, const char *part) {
        return text.find(part) != std::string::npos;
    };
    // 9 nodes in each statement; one operation is saved.
    CHECK(has(parted(in_x(body(50, left))), "x.begin"));
    check_unchanged(in_x(body(250, left)));
    CHECK(has(parted(around("for x in [0, n) partitioned", body(250, left))), "x.begin"));
    std::string many;
    for (int i = 0; i < 30; i++)
        many += ends;
    CHECK(has(parted(in_x(body(20, many))), "x.end"));
    CHECK_FALSE(has(parted(in_x(body(250, many))), "x.end"));
    CHECK(has(parted(in_x(body(250, many))), "x.last"));
    std::string one_end;
    for (int i = 0; i < 30; i++)
        one_end += left;
    CHECK(has(parted(in_x(body(250, one_end))), "x.begin"));
    std::string all;
    for (int i = 0; i < 1000; i++)
        all += left;
    CHECK(has(parted(in_x(body(100, all))), "x.begin"));
    check_unchanged(in_x(body(2000, all)));
    // The rest, in which other arms are taken, only if it is small.
    std::string arms;
    for (int i = 0; i < 3; i++)
        arms += "out[x] = select(x < w, in[x], other[x])\n";
    CHECK_FALSE(has(parted(in_x(body(20, arms))), "select("));
    CHECK(has(parted(in_x(body(150, arms))), "x.end"));
    CHECK(has(parted(in_x(body(150, arms))), "select("));
}

TEST_CASE("partition: what the statements of a body share counts once") {
    auto sum_of = [](int loads) {
        Expr sum = number(0);
        for (int i = 0; i < loads; i++)
            sum = add(sum, load("in", add(x, var("p" + std::to_string(i)))));
        return sum;
    };
    auto is_parted = [&](const Expr &shared, int times) {
        std::vector<Stmt> body{
            make_store("out", x, load("in", ir::max(sub(x, number(1)), number(0))))};
        for (int i = 0; i < times; i++)
            body.push_back(make_store("g", add(x, number(i)), shared));
        const Stmt loop = make_for("x", number(0), var("n"), LoopKind::Serial, make_block(body));
        return ir::to_string(lower::partition_loops(loop)) != ir::to_string(loop);
    };
    CHECK(is_parted(sum_of(50), 30));
    CHECK_FALSE(is_parted(sum_of(500), 2));
}

TEST_CASE("partition: what was likely is told to no later pass") {
    CHECK(parted(in_x("out[x] = likely(in[x] + likely(1))\n")) == in_x("out[x] = in[x] + 1\n"));
    CHECK(parted("out[0] = likely(in[0])\n") == "out[0] = in[0]\n");
}

TEST_CASE("partition: a vectorized loop with a guarded tail has masks in its last iteration only") {
    Expr at = add(mul(x, number(8)), var("xi"));
    Stmt body = make_if(less(at, w), make_store("out", at, load("in", at)));
    Stmt inner = make_for("xi", number(0), number(8), LoopKind::Vectorized, body);
    Expr tiles = div(add(w, number(7)), number(8));
    std::string text = partitioned(make_for("x", number(0), tiles, LoopKind::Serial, inner));
    INFO(text);
    CHECK(body_of(text, "for x in [0, x.end)") ==
          "  out[ramp(x * 8, 1, 8)] = in[ramp(x * 8, 1, 8)]\n");
    CHECK(decisions(body_of(text, "for x in [x.end")) > 0);
}

TEST_CASE("partition: where a condition chooses an arm, the other arm has a loop of its own") {
    auto chosen = [](const std::string &condition) {
        return parted(in_x("out[x] = select(" + condition + ", in[x], other[x])\n"));
    };
    auto loop = [](const std::string &range, const std::string &value) {
        return around("for x in " + range, "out[x] = " + value + "\n");
    };
    const std::string from_end = "[x.end, x.end + (n - x.end))",
                      from_begin = "[x.begin, x.begin + (n - x.begin))";
    CHECK(chosen("x < w") == "let x.end = max(min(n, w), 0)\n" + loop("[0, x.end)", "in[x]") +
                                 loop(from_end, "other[x]"));
    CHECK(chosen("!(x > w)") == "let x.begin = max(min(n, w + 1), 0)\n" +
                                    loop("[0, x.begin)", "in[x]") + loop(from_begin, "other[x]"));
    const std::string inside = "let x.begin = max(min(n, w), 0)\n"
                               "let x.end = max(x.begin, min(h, n))\n" +
                               loop("[0, x.begin)", "other[x]") +
                               loop("[x.begin, x.begin + (x.end - x.begin))", "in[x]") +
                               loop(from_end, "other[x]");
    CHECK(chosen("w <= x && x < h") == inside);
    CHECK(chosen("x < h && w <= x") == inside);
    CHECK(chosen("x < w || x > h") == "let x.end = max(min(n, w), 0)\n" +
                                          loop("[0, x.end)", "in[x]") +
                                          "let x.begin1 = max(x.end, min(n, h + 1))\n" +
                                          loop("[x.end, x.end + (x.begin1 - x.end))", "other[x]") +
                                          loop("[x.begin1, x.begin1 + (n - x.begin1))", "in[x]"));
    CHECK(parted(in_x("out[x] = select(x < w, in[x], select(x < h, other[x], 3))\n")) ==
          "let x.end = max(min(n, w), 0)\n" + loop("[0, x.end)", "in[x]") +
              "let x.end1 = max(x.end, min(h, n))\n" +
              loop("[x.end, x.end + (x.end1 - x.end))", "other[x]") +
              loop("[x.end1, x.end1 + (n - x.end1))", "3"));
    CHECK(parted(in_x("if x < w {\n  out[x] = 1\n} else {\n  out[x] = 2\n}\n")) ==
          "let x.end = max(min(n, w), 0)\n" + loop("[0, x.end)", "1") + loop(from_end, "2"));
}

TEST_CASE("partition: vectors that have lanes of both arms are between those of one") {
    const std::string lanes = "ramp(x * 8, 1, 8)", store = "out[" + lanes + "] = ",
                      general = store + "select(" + lanes + " < broadcast(w, 8), in[" + lanes +
                                "], broadcast(0, 8))\n";
    CHECK(
        parted(in_x(general)) ==
        "let x.end = max(min(n, w / 8), 0)\n" +
            around("for x in [0, x.end)", store + "in[" + lanes + "]\n") +
            "let x.begin1 = max(x.end, min(n, w * -1 / 8 * -1))\n" +
            around("for x in [x.end, x.end + (x.begin1 - x.end))", general) +
            around("for x in [x.begin1, x.begin1 + (n - x.begin1))", store + "broadcast(0, 8)\n"));
}

TEST_CASE("partition: in a parallel loop, each arm has a version") {
    CHECK(parted(in_y("out[y] = select(y < w, in[y], other[y])\n")) ==
          "let y.last = w - 1\n" +
              in_y(two("out[y] = in[y]\n", "out[y] = other[y]\n", "y <= y.last")));
    CHECK(parted(in_y("out[y] = select(y < w, in[y], select(y < h, other[y], 3))\n")) ==
          "let y.last = w - 1\n" +
              in_y(two("out[y] = in[y]\n",
                       "let y.last1 = h - 1\n" +
                           two("out[y] = other[y]\n", "out[y] = 3\n", "y <= y.last1"),
                       "y <= y.last")));
    // Outside, it is on either side.
    const std::string band = "out[y] = select(w <= y && y < h, in[y], other[y])\n",
                      outside = "out[y] = other[y]\n";
    CHECK(parted(in_y(band)) ==
          "let y.last = h - 1\n"
          "let y.first = w\n" +
              in_y(two("out[y] = in[y]\n",
                       "let y.last1 = w - 1\n" +
                           two(outside, "let y.first2 = h\n" + two(outside, band, "y >= y.first2"),
                               "y <= y.last1"),
                       "y >= y.first && y <= y.last")));
    // What is read into a name before other statements is not read again.
    const std::string choice = "g[y] = select(y < w, t, 0)\n";
    CHECK(parted(in_y("let t = f[y]\nf[y] = 1\n" + choice)) ==
          "let y.last = w - 1\n" +
              in_y("let t = f[y]\nf[y] = 1\n" + two("g[y] = t\n", choice, "y <= y.last")));
}

TEST_CASE("partition: an arm of a few iterations has no loop of its own") {
    const std::string left = "out[x] = select(x < 2, 7, in[x])\n";
    CHECK(parted(in_x(left)) ==
          "let x.begin = max(min(n, 2), 0)\n" + around("for x in [0, x.begin)", left) +
              around("for x in [x.begin, x.begin + (n - x.begin))", "out[x] = in[x]\n"));
    // Nor one that is not likely.
    const std::string border = "out[x] = select(x < w, likely(in[x]), 0)\n",
                      untagged = "out[x] = select(x < w, in[x], 0)\n";
    CHECK(parted(in_x(border)) == "let x.end = max(min(n, w), 0)\n" +
                                      around("for x in [0, x.end)", "out[x] = in[x]\n") +
                                      around("for x in [x.end, x.end + (n - x.end))", untagged));
}

TEST_CASE("partition: a parallel loop stays one, with two bodies") {
    Expr up = clamp(sub(y, number(1)), number(0), sub(h, number(1)));
    Expr at = add(mul(up, number(100)), x);
    Expr value =
        make_select(make_binary(Op::GE, sub(y, number(1)), number(0)), load("in", at), number(0));
    Stmt row = make_for("x", number(0), w, LoopKind::Serial,
                        make_store("out", add(mul(y, number(100)), x), value));
    CHECK(partitioned(make_for("y", number(0), h, LoopKind::Parallel, row)) ==
          "for y in [0, h) parallel {\n"
          "  if 1 <= y {\n"
          "    for x in [0, w) {\n"
          "      out[y * 100 + x] = in[y * 100 + x - 100]\n"
          "    }\n"
          "  } else {\n"
          "    for x in [0, w) {\n"
          "      out[y * 100 + x] = 0\n"
          "    }\n"
          "  }\n"
          "}\n");
}

TEST_CASE("partition: the tests of an unrolled loop's end leave a body that is large, too") {
    constexpr int lines = 200, factor = 4;
    std::vector<Stmt> step;
    Expr at = add(mul(x, number(factor)), var("k"));
    for (int i = 0; i < lines; i++) {
        Expr value = mul(load("in", add(at, number(i))), load("in", sub(at, number(i))));
        step.push_back(make_store("out", number(i), add(load("out", number(i)), value)));
    }
    Stmt guarded = make_if(make_binary(Op::LT, at, w), make_block(std::move(step)));
    Stmt unrolled = make_for("k", number(0), number(factor), LoopKind::Unrolled, guarded);
    Expr rounds = make_binary(Op::Div, add(w, number(factor - 1)), number(factor));
    Stmt loop = make_for("x", number(0), rounds, LoopKind::Serial, unrolled);
    std::string text = partitioned(simplify(lower::unroll_loops(loop)));
    INFO(text.substr(0, 2000));
    std::string steady = body_of(text, "for x in [0, x.end)");
    CHECK(decisions(steady) == 0);
    CHECK(std::count(steady.begin(), steady.end(), '\n') == lines * factor);
    CHECK(decisions(body_of(text, "for x in [x.end, ")) > 0);
}

// A block of vectors that a producer computes inside of its consumer's loop over blocks: the loop over blocks alone
// can tell which of them are whole.
TEST_CASE(
    "partition: an inner loop that is short in the steady state is decided by the loop around") {
    const Expr stop = var("stop"), i = var("i");
    const Expr at = add(mul(add(x, i), number(8)), var("lane"));
    const Stmt guarded = make_if(less(at, stop), make_store("out", at, load("in", at)));
    const Stmt vector = make_for("lane", number(0), number(8), LoopKind::Vectorized, guarded);
    const Expr blocks = sub(div(add(stop, number(7)), number(8)), x);
    const Stmt block = make_let("stop", ir::min(w, add(mul(x, number(8)), number(8))),
                                make_for("i", number(0), blocks, LoopKind::Serial, vector));
    const std::string text = partitioned(
        make_for("x", number(0), div(add(w, number(7)), number(8)), LoopKind::Serial, block));
    INFO(text);
    CHECK(body_of(text, "if x < w / 8 ") == "    out[ramp(x * 8, 1, 8)] = in[ramp(x * 8, 1, 8)]\n");
    CHECK(decisions(body_of(text, "} else {")) > 0);
}

TEST_CASE("partition: what can be hoisted is no reason for two bodies") {
    Expr up = clamp(sub(y, number(1)), number(0), sub(h, number(1)));
    Stmt row = make_for("x", number(0), w, LoopKind::Serial,
                        make_store("out", x, load("in", add(mul(up, number(100)), x))));
    Stmt loop = make_for("y", number(0), h, LoopKind::Serial, row);
    CHECK(ir::to_string(lower::partition_loops(loop)) == ir::to_string(loop));
}

// The loop over y forgot which side is likely; the loop over x then made the exterior its rule.
TEST_CASE("partition: what an outer loop leaves undecided is decided by the likely side") {
    Expr left = sub(x, number(1)), up = sub(y, number(1));
    Expr out_of_x = make_binary(Op::Or, less(left, var("left")), make_binary(Op::GE, left, w)),
         out_of_y = make_binary(Op::Or, less(up, var("top")), make_binary(Op::GE, up, h));
    Expr inside = load("in", add(mul(clamp(up, var("top"), sub(h, number(1))), number(100)),
                                 clamp(left, var("left"), sub(w, number(1)))));
    Expr likely = make_call(Int(32), intrinsic::likely, {inside}, CallKind::Intrinsic);
    Expr value = make_select(make_binary(Op::Or, out_of_x, out_of_y), number(0), likely);
    Stmt row = make_for("x", number(0), var("width"), LoopKind::Serial,
                        make_store("out", add(mul(y, number(100)), x), value));
    std::string text = partitioned(make_for("y", number(0), var("height"), LoopKind::Serial, row));
    INFO(text);
    CHECK(text.find("out[y * 100 + x] = in[y * 100 + x - 101]\n") != std::string::npos);
}

// The other arm's load was masked by the opposite: the loop over y then took for its rule the rows that are
// both inside and outside, of which there are none (multigrid on two planes or more).
TEST_CASE("partition: the mask of the other arm does not take back what was decided") {
    Expr in_x = lower::both(make_binary(Op::LE, var("left"), x), less(x, w)),
         in_y = lower::both(make_binary(Op::LE, var("top"), y), less(y, h));
    Expr at = add(mul(y, number(100)), x);
    Expr inside = make_call(Int(32), intrinsic::likely, {load("in", at)}, CallKind::Intrinsic);
    Expr outside = make_load(Int(32), "edge", at, lower::negated(lower::both(in_x, in_y)));
    Stmt row =
        make_for("x", number(0), var("width"), LoopKind::Serial,
                 make_store("out", at, make_select(lower::both(in_x, in_y), inside, outside)));
    std::string text = partitioned(make_for("y", number(0), var("height"), LoopKind::Serial, row));
    INFO(text);
    CHECK(text.find("out[y * 100 + x] = in[y * 100 + x]\n") != std::string::npos);
    CHECK(text.find("if top <= y && y < h {") != std::string::npos);
}

TEST_CASE("partition: tiles that touch no edge are free of decisions, whatever is inside") {
    // A producer on the tile and one pixel around it, clamped to the picture; 3 taps of it; vectors.
    Expr start = mul(var("xo"), number(32)), last = sub(w, number(1));
    Expr lo = ir::max(sub(start, number(1)), number(0)), hi = ir::min(add(start, number(32)), last);
    auto vectors = [&](const std::string &name, const Expr &from, const Expr &count, auto &&body) {
        Expr at = add(add(from, mul(var(name), number(8))), var(name + "i"));
        bool rounds_up = name == "p";
        Stmt store = rounds_up ? body(at) : make_if(less(at, add(from, count)), body(at));
        Stmt inner = make_for(name + "i", number(0), number(8), LoopKind::Vectorized, store);
        return make_for(name, number(0), div(add(count, number(7)), number(8)), LoopKind::Serial,
                        inner);
    };
    Expr base = sub(start, number(1)), row = mul(y, number(4096));
    Stmt produce =
        vectors("p", var("lo"), add(sub(var("hi"), var("lo")), number(1)), [&](const Expr &at) {
            Expr edge = make_call(Int(32), intrinsic::likely, {at}, CallKind::Intrinsic);
            return make_store("t", sub(at, base),
                              load("in", add(row, clamp(add(edge, number(2)), number(0), last))));
        });
    Stmt consume = vectors("c", start, ir::min(number(32), sub(w, start)), [&](const Expr &at) {
        Expr left = clamp(sub(at, number(1)), number(0), last),
             right = clamp(add(at, number(1)), number(0), last);
        return make_store("out", add(row, at),
                          add(load("t", sub(left, base)), load("t", sub(right, base))));
    });
    Stmt tile = make_let("lo", lo, make_let("hi", hi, make_block({produce, consume})));
    tile = make_allocate("t", Int(32), {number(40)}, MemoryType::Auto, tile);
    tile = make_for("xo", number(0), div(add(w, number(31)), number(32)), LoopKind::Serial, tile);
    std::string text = partitioned(make_for("y", number(0), h, LoopKind::Parallel, tile));
    INFO(text);
    size_t steady = text.find("if "), edge = text.find("} else {");
    REQUIRE(edge != std::string::npos);
    std::string clean = text.substr(text.find('\n', steady), edge - text.find('\n', steady));
    CHECK(decisions(clean) == 0);
    CHECK(clean.find("ramp") != std::string::npos);
}

TEST_CASE("partition: a mask around a loop is decided for what it costs in it") {
    Expr column = add(mul(x, number(8)), var("xi")), at = add(column, mul(y, number(100)));
    Stmt store = make_store("out", at, load("in", at));
    Stmt rows = make_for("y", number(0), h, LoopKind::Serial, store);
    Stmt lanes = make_for("xi", number(0), number(8), LoopKind::Vectorized,
                          make_if(less(column, number(84)), rows));
    std::string text = partitioned(make_for("x", number(0), number(11), LoopKind::Serial, lanes));
    INFO(text);
    CHECK(decisions(body_of(text, "for y in [0, h)")) == 0);
    CHECK(text.find("mask") != std::string::npos);  // in the last iteration
}

TEST_CASE("partition: random programs compute the same") {
    // 2680 and 4372: a branch on memory between parts that both versions have in common.
    std::vector<uint32_t> seeds{2680, 4372};
    for (uint32_t seed = 1; seed <= 500; seed++)
        seeds.push_back(seed);
    for (uint32_t seed : seeds) {
        LoopProgram program =
            random_loops(seed, {.vectorized = seed % 3 != 0, .rich_bodies = seed % 4 == 0});
        const Target without_masks("x86-64-linux-sse41");
        Stmt before = lower::unroll_loops(
            lower::vectorize_loops(program.body, seed % 8 < 4 ? &without_masks : nullptr));
        Stmt now = lower::partition_loops(before), simplified = simplify(now);
        for (auto [width, height] :
             {std::pair{0, 2}, {1, 1}, {2, 7}, {7, 3}, {8, 2}, {19, 5}, {40, 3}}) {
            INFO("seed " << seed << ", " << width << " x " << height << "\n"
                         << before << "=>\n"
                         << now);
            RunResult expected = run(program, before, width, height);
            REQUIRE(expected == run(program, now, width, height));
            REQUIRE(expected == run(program, simplified, width, height));
        }
    }
}
