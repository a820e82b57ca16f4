#include "lower/guard_loops.h"

#include <random>

#include <catch2/catch_test_macros.hpp>

#include "ir/print.h"
#include "ir/simplify.h"
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

/// Blocks of 4 columns at xo, for all k, of which a part is wanted.
Stmt triangle() {
    Expr x = var("x"), y = var("y");
    Stmt wanted = make_if(make_binary(Op::LE, y, x), accumulate(x, y));
    Stmt block = loop("k", number(0), 5, loop("x", mul(var("xo"), number(4)), 4, wanted));
    return loop("y", number(0), 8, loop("xo", number(0), 4, block));
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

}  // namespace

TEST_CASE("guard: blocks of a triangle are left out, or have no condition") {
    std::string text = ir::to_string(simplify(lower::guard_loops(triangle())));
    INFO(text);
    size_t inside = text.find("if y <= xo * 4"), across = text.find("y < xo * 4 + 4");
    REQUIRE(inside != std::string::npos);
    REQUIRE(across != std::string::npos);
    CHECK(inside < across);
    std::string free = text.substr(inside, across - inside);
    CHECK(free.find("for k") != std::string::npos);
    CHECK(free.find("if y <= x ") == std::string::npos);
    CHECK(text.find("if y <= x ", across) != std::string::npos);
}

TEST_CASE("guard: what one loop decides, or the loop itself, stays") {
    for (const Expr &side : {number(3), var("k")}) {
        Stmt body = make_if(less(var("y"), side), accumulate(var("xo"), var("y")));
        Stmt nest = loop("y", number(0), 8, loop("k", number(0), 3, body));
        CHECK(ir::to_string(lower::guard_loops(nest)) == ir::to_string(nest));
    }
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
