#include "lower/guard_loops.h"

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

Stmt loop(const std::string &name, const Expr &min, int64_t extent, const Stmt &body,
          LoopKind kind = LoopKind::Serial) {
    return make_for(name, min, number(extent), kind, body);
}

/// out[y * pitch + x] += in[k]
Stmt accumulate(const Expr &x, const Expr &y) {
    Expr at = add(mul(y, number(LoopProgram::pitch)), x);
    return make_store("out", at, add(load("out", at), load("in", var("k"))));
}

/// Conditions of all kinds over y and xo outside, k, and one or two loops inside.
class Nests {
  public:
    explicit Nests(uint32_t seed) : random_(seed) {}

    Stmt make() {
        Expr x = add(mul(var("xo"), number(4)), var("x")), y = add(var("y"), var("z"));
        Stmt body = make_block({acting(x, y), chance(40) ? acting(x, y) : Stmt()});
        LoopKind kind = chance(40) ? LoopKind::Unrolled : LoopKind::Serial;
        body = loop("x", number(0), 4, body, kind);
        body = chance(30) ? make_let("z", number(below(2)), body) : loop("z", number(0), 2, body);
        if (chance(30))
            body = make_if(condition(var("xo"), var("y")), body);
        Stmt block = loop("k", number(0), 1 + below(3), body);
        if (chance(40)) {
            Stmt more = loop("z", number(0), 1, loop("x", number(0), 4, acting(x, y)));
            block = make_block({block, loop("k", number(0), 2, more)});
        }
        return loop("y", number(0), 6, loop("xo", number(0), 4, block));
    }

  private:
    std::mt19937 random_;
    int below(int n) { return static_cast<int>(random_() % static_cast<uint32_t>(n)); }
    bool chance(int percent) { return below(100) < percent; }

    Stmt acting(const Expr &x, const Expr &y) {
        Stmt s = accumulate(x, y);
        for (int n = below(3); n > 0; n--)
            s = make_if(condition(x, y), s);
        return s;
    }

    Expr condition(const Expr &x, const Expr &y) {
        const Expr sides[] = {x,
                              y,
                              add(x, y),
                              mul(x, y),
                              var("k"),
                              var("w"),
                              number(below(9)),
                              mul(y, number(2)),
                              sub(number(9), x),
                              div(x, number(2))};
        const Op ops[] = {Op::LT, Op::LE, Op::GT, Op::GE, Op::EQ, Op::NE};
        Expr result = make_binary(ops[below(6)], sides[below(10)], sides[below(10)]);
        if (chance(15))
            result = make_not(result);
        if (chance(30))
            result = make_binary(chance(50) ? Op::And : Op::Or, result, condition(x, y));
        return chance(10) ? make_not(result) : result;
    }
};

std::string guarded(const std::string &text) {
    return ir::to_string(lower::guard_loops(parse_stmt(text)));
}

/// Two loops around `body`.
std::string in_y_and_xo(const std::string &body) {
    return around("for y in [0, 8)", around("for xo in [0, 4)", body));
}
std::string in_k(const std::string &body, const std::string &kind = "") {
    return around("for k in [0, 5)" + kind, body);
}
std::string in_x(const std::string &body) {
    return around("for x in [0, 4)", body);
}
std::string in_if(const std::string &condition, const std::string &body) {
    return around("if " + condition, body);
}
const std::string store = "f[k] = a[k]\n", sum = "f[x] = f[x] + a[k]\n";

/// The loop over k runs where `may` holds; where `all` holds, too, without the conditions.
void check_versions(const std::string &body, const std::string &may, const std::string &all,
                    const std::string &full) {
    CHECK(guarded(in_y_and_xo(in_k(body))) ==
          in_y_and_xo("if " + all + " {\n" + indented(in_k(full)) +
                      around("} else", in_if(may, in_k(body)))));
}

/// It runs where `may` holds, and is as it was.
void check_skipped(const std::string &body, const std::string &may) {
    CHECK(guarded(in_y_and_xo(in_k(body))) == in_y_and_xo(in_if(may, in_k(body))));
}

void check_unchanged(const std::string &text) {
    INFO(text);
    CHECK(guarded(text) == text);
}
void check_same(const std::string &body) {
    check_unchanged(in_y_and_xo(in_k(body)));
}

}  // namespace

TEST_CASE("guard: a loop is skipped where no iteration acts, and has no condition where all do") {
    check_versions(in_x(in_if("y <= xo * 4 + x", sum)), "y - (xo * 4 + 3) <= 0", "y - xo * 4 <= 0",
                   in_x(sum));
    check_versions(in_x(in_if("y == xo * 4 + x", sum)), "y - (xo * 4 + 3) <= 0 && xo * 4 - y <= 0",
                   "y - xo * 4 <= 0 && xo * 4 + 3 - y <= 0", in_x(sum));
}

TEST_CASE("guard: conjunctions and disjunctions, each part for one or for all iterations") {
    check_versions(in_x(in_if("y <= xo * 4 + x && x <= y", sum)),
                   "y - (xo * 4 + 3) <= 0 && 0 - y <= 0", "y - xo * 4 <= 0 && 3 - y <= 0",
                   in_x(sum));
    check_versions(in_x(in_if("y <= xo * 4 + x || x <= y", sum)),
                   "y - (xo * 4 + 3) <= 0 || 0 - y <= 0", "y - xo * 4 <= 0 || 3 - y <= 0",
                   in_x(sum));
    // A part on which nothing is known may hold.
    check_skipped(in_x(in_if("y <= xo * 4 + x && x * x != y", sum)), "y - (xo * 4 + 3) <= 0");
    check_skipped(in_x(in_if("y <= xo && x * x != y", sum)), "y <= xo");
    check_same(in_x(in_if("y <= xo * 4 + x || x * x != y", sum)));
    check_same(in_x(in_if("y != xo * 4 + x", sum)));
    check_same(in_x(in_if("!(y <= xo * 4 + x)", sum)));
}

TEST_CASE("guard: the condition of a loop that the loops inside do not change is tested once") {
    check_skipped(in_if("y <= xo", store), "y <= xo");
    check_skipped(in_if("y <= xo", in_if("y <= xo * xo", store)), "y <= xo && y <= xo * xo");
}

TEST_CASE("guard: a loop runs where one of its statements acts") {
    check_versions(in_if("y <= xo", store) + in_if("xo <= y", "f[k] = 0\n"), "y <= xo || xo <= y",
                   "y <= xo && xo <= y", store + "f[k] = 0\n");
    check_same(in_if("y <= xo", store) + "g[k] = 0\n");
    // A part of it always acts.
    check_versions(in_if("y <= xo", in_x(in_if("x < p", sum) + "g[x] = 0\n")), "y <= xo",
                   "y <= xo && 3 - p + 1 <= 0", in_x(sum + "g[x] = 0\n"));
    check_versions(in_if("y <= xo", in_x("g[x] = 0\ng[x] = 1\n" + in_if("x < p", sum))), "y <= xo",
                   "y <= xo && 3 - p + 1 <= 0", in_x("g[x] = 0\ng[x] = 1\n" + sum));
    check_same(in_if("y <= xo", "") + in_if("y <= xo", store) + "g[k] = 0\n");
}

TEST_CASE("guard: what one loop decides, or the loop itself, stays") {
    check_same(in_if("y < 3", store));
    check_same(in_if("xo < p", store));
    check_same(in_if("p < q", store));
    check_same(in_if("y < k", store));
    // Not the loop over k, whose variable is in the condition, but the one in it.
    CHECK(guarded(in_y_and_xo(in_k(in_x(in_if("y <= xo + k", sum))))) ==
          in_y_and_xo(in_k(in_if("y <= xo + k", in_x(in_if("y <= xo + k", sum))))));
}

TEST_CASE("guard: a name for what several loops decide is decided by them") {
    const std::string loop = in_k(in_if("z < 3", store));
    CHECK(guarded(in_y_and_xo("let z = y + xo\n" + loop)) ==
          in_y_and_xo("let z = y + xo\n" + in_if("z < 3", loop)));
    check_unchanged(in_y_and_xo("let z = y + 1\n" + loop));
    // A name that the loop itself defines stands for its value.
    check_skipped("let z = y + xo\n" + in_if("z < 3", store), "y + xo < 3");
    check_versions("let z = y * xo\n" + in_x(in_if("y <= xo", in_if("x < z", sum))),
                   "y <= xo && 0 - y * xo + 1 <= 0", "y <= xo && 3 - y * xo + 1 <= 0",
                   "let z = y * xo\n" + in_x(sum));
}

TEST_CASE("guard: conditions that read memory may hold") {
    check_same(in_if("m[y] <= m[xo]", store));
    check_same(in_if("y <= xo && m[k] < 3", store));
    check_same("let z = y + m[k]\n" + in_if("z <= xo", store));
    check_skipped(in_if("y <= xo", in_if("m[k] < 3", store)), "y <= xo");
    check_skipped("let z = m[k]\n" + in_if("y <= xo", "f[z] = a[k]\n"), "y <= xo");
    check_skipped(in_x(in_if("y <= xo * 4 + x", in_if("m[x] < 3", sum))), "y - (xo * 4 + 3) <= 0");
    check_skipped(in_if("y <= xo", "let z = m[k]\n" + in_if("z <= xo", store)), "y <= xo");
}

TEST_CASE("guard: conditions that are large may hold, or may not") {
    auto large = [](const std::string &condition, int terms) {
        std::string result = condition;
        for (int i = 0; i < terms; i++)
            result += " + " + std::to_string(i + 2) + " * p";
        return result;
    };
    check_same(in_if(large("y <= xo", 40), store));
    check_skipped(in_if("y <= xo", in_if(large("y <= xo", 40), store)), "y <= xo");
    // Two that are large together.
    const std::string one = large("y <= xo * 4 + x", 15), other = large("x <= y", 15);
    check_skipped(in_x(in_if("y <= xo * 4 + x", in_if(one, in_if(other, sum)))),
                  "y - (xo * 4 + 3) <= 0");
    for (const char *op : {" && ", " || "}) {
        // Larger still once they are for all iterations.
        const std::string both = large("y <= xo * 4 + x", 11) + op + large("x <= y", 11);
        check_same(in_x(in_if(both, sum)) + in_if("y <= xo", store));
    }
}

TEST_CASE("guard: a name has the meaning that it has where it stands") {
    const std::string loop = in_k(in_if("z < 3", store));
    check_unchanged(in_y_and_xo("{\n  let z = y + xo\n  f[z] = 1\n}\n" + loop));
    check_unchanged(
        in_y_and_xo("for z in [0, y) {\n  f[z] = 1\n}\n" + in_k(in_if("z < xo", store))));
}

TEST_CASE("guard: an if with an else always acts, and so do statements of other kinds") {
    check_same("if y <= xo {\n  f[k] = a[k]\n} else {\n  f[k] = 0\n}\n");
    check_same(around("exclusive f", in_if("y <= xo", store)));
    // The loops in them are looked at.
    const std::string loop = in_k(in_if("y <= xo", store)),
                      now = in_if("y <= xo", in_k(in_if("y <= xo", store)));
    const std::string head = "if p < 3 {\n  g[0] = 1\n} else";
    CHECK(guarded(in_y_and_xo(around(head, loop))) == in_y_and_xo(around(head, now)));
}

TEST_CASE("guard: storage and productions around a condition change nothing") {
    for (const char *head : {"allocate t[int32 * 4]", "produce t", "consume t"})
        check_skipped(around(head, in_if("y <= xo", store)), "y <= xo");
}

TEST_CASE("guard: only serial loops are skipped") {
    for (const char *kind : {" parallel", " unrolled", " vectorized", " gpu_thread"})
        check_unchanged(in_y_and_xo(in_k(in_if("y <= xo", store), kind)));
}

TEST_CASE("guard: random nests compute the same") {
    int guarded = 0;
    for (uint32_t seed = 1; seed <= 1500; seed++) {
        LoopProgram program{Nests(seed).make(), {"out"}};
        Stmt now = lower::guard_loops(program.body);
        guarded += ir::to_string(now) != ir::to_string(program.body);
        for (int w : {0, 3, 8}) {
            INFO("seed " << seed << ", " << w << "\n" << program.body << "=>\n" << now);
            REQUIRE(run(program, program.body, w, 8) == run(program, now, w, 8));
        }
    }
    CHECK(guarded > 300);
}

TEST_CASE("guard: random programs compute the same") {
    for (uint32_t seed = 1; seed <= 200; seed++) {
        LoopProgram program = random_loops(seed, {.vectorized = false, .rich_bodies = true});
        Stmt now = lower::guard_loops(program.body);
        for (auto [w, h] : {std::pair{0, 2}, {1, 1}, {7, 3}, {19, 5}}) {
            INFO("seed " << seed << ", " << w << " x " << h << "\n"
                         << program.body << "=>\n"
                         << now);
            REQUIRE(run(program, program.body, w, h) == run(program, now, w, h));
        }
    }
}
