#include <catch2/catch_test_macros.hpp>

#include "ir/cse.h"
#include "ir/equal.h"
#include "ir/print.h"
#include "ir/simplify.h"
#include "support/random_expr.h"

using namespace Pipe;
using namespace Pipe::ir;
using namespace test;

namespace {

Expr var(const std::string &name) {
    return make_variable(Int(32), name);
}
Expr op(Op o, Expr a, Expr b) {
    return make_binary(o, std::move(a), std::move(b));
}

/// What a program stores, in order. Loops over more than a few iterations overflow.
struct Trace {
    std::vector<std::pair<int64_t, int64_t>> stores;
    bool valid = true;
};

void run(const Stmt &s, Environment &env, Trace &trace) {
    if (!s.defined() || !trace.valid)
        return;
    auto value = [&](const Expr &e) -> int64_t {
        auto result = evaluate(e, env);
        trace.valid &= result.has_value();
        return result ? (*result)[0].i : 0;
    };
    auto with = [&](int64_t v) {
        Environment outer = env;
        env[s->name] = {{v, 0}};
        run(s->stmts[0], env, trace);
        env = outer;
    };
    switch (s->op) {
    case StmtOp::Let: {
        int64_t v = value(s->exprs[0]);
        if (trace.valid)
            with(v);
        return;
    }
    case StmtOp::For: {
        int64_t min = value(s->exprs[0]), extent = value(s->exprs[1]);
        if (extent > 12)
            trace.valid = false;
        for (int64_t i = 0; i < extent && trace.valid; i++)
            with(min + i);
        return;
    }
    case StmtOp::If: {
        int64_t c = value(s->exprs[0]);
        if (trace.valid)
            run(s->stmts[c ? 0 : 1], env, trace);
        return;
    }
    case StmtOp::Store: {
        if (s->exprs[2].defined() && !value(s->exprs[2]))
            return;
        int64_t index = value(s->exprs[1]), v = value(s->exprs[0]);
        trace.stores.emplace_back(index, v);
        return;
    }
    default:
        for (const Stmt &child : s->stmts)
            run(child, env, trace);
    }
}

/// Random nests of loops, lets and ifs around stores. Names come from a small set: they hide each
/// other.
class RandomStmt {
  public:
    explicit RandomStmt(uint64_t seed) : exprs(seed) {}
    RandomExpr exprs;

    Stmt make(int depth) {
        if (depth <= 0)
            return make_store("b", expr(2), expr(3), exprs.below(3) ? Expr() : condition());
        switch (exprs.below(5)) {
        case 0:
            return make_let(name(), expr(2), make(depth - 1));
        case 1:
            return make_for(name(), expr(1), small(), LoopKind::Serial, make(depth - 1));
        case 2:
            return make_if(condition(), make(depth - 1), exprs.below(2) ? make(depth - 1) : Stmt());
        case 3:
            return make_block({make(depth - 1), make(depth - 1)});
        default:
            return make_for(name(), expr(0), small(), LoopKind::Serial, make(depth - 1));
        }
    }

  private:
    std::string name() { return "int32_" + std::to_string(exprs.below(3)); }
    Expr expr(int depth) { return exprs.make(Int(32), depth); }
    Expr condition() { return exprs.make(Bool(), 2); }
    /// An extent: mostly constant.
    Expr small() {
        return exprs.below(3) ? Expr(exprs.below(5)) : op(Op::Min, expr(1), Expr(exprs.below(6)));
    }
};

}  // namespace

TEST_CASE("simplify keeps what random programs store") {
    for (uint64_t seed = 1; seed <= 3000; seed++) {
        INFO("seed " << seed);
        RandomStmt random(seed);
        Stmt before = random.make(2 + random.exprs.below(5));
        Stmt after = simplify(before), shared = cse(before);
        for (int i = 0; i < 6; i++) {
            Environment env = random.exprs.values();
            // Small values, so that conditions and loops meet interesting cases.
            for (int v = 0; v < 3; v++)
                env["int32_" + std::to_string(v)][0].i = random.exprs.below(24) - 8;
            Trace expected, actual, after_cse;
            Environment e1 = env, e2 = env, e3 = env;
            run(before, e1, expected);
            run(after, e2, actual);
            run(shared, e3, after_cse);
            if (expected.valid && actual.valid && expected.stores != actual.stores)
                FAIL("before:\n" << before << "after:\n" << after);
            if (expected.valid && after_cse.valid && expected.stores != after_cse.stores)
                FAIL("before:\n" << before << "after cse:\n" << shared);
        }
    }
}

TEST_CASE("lets carry bounds of tiles") {
    Expr tile = op(Op::Mul, var("yo"), Expr(32));
    Stmt body = make_for("y", var("min"), op(Op::Add, op(Op::Sub, var("max"), var("min")), Expr(1)),
                         LoopKind::Serial, make_store("b", var("y"), var("y")));
    Stmt s = make_let("min", op(Op::Sub, tile, Expr(1)),
                      make_let("max", op(Op::Add, tile, Expr(32)), body));
    CHECK(to_string(simplify(s)) == "for y in [yo * 32 - 1, yo * 32 + 33) {\n"
                                    "  b[y] = y\n"
                                    "}\n");
}

TEST_CASE("a let that is no small sum stays, and its bounds are known") {
    Expr clamped = op(Op::Max, op(Op::Min, var("a"), Expr(100)), Expr(0));
    Stmt use = make_store("b", var("m"), op(Op::Min, var("m"), Expr(200)));
    Stmt s = make_let("m", clamped, make_block({use, use}));
    CHECK(to_string(simplify(s)) == "let m = max(min(a, 100), 0)\n"
                                    "b[m] = m\n"
                                    "b[m] = m\n");
}

TEST_CASE("loops tell about their variables") {
    Expr x = var("x"), clamp = op(Op::Max, op(Op::Min, x, op(Op::Sub, var("n"), Expr(1))), Expr(0));
    Stmt s = make_for("x", Expr(0), var("n"), LoopKind::Parallel, make_store("b", clamp, x));
    CHECK(to_string(simplify(s)) == "for x in [0, n) parallel {\n  b[x] = x\n}\n");
}

TEST_CASE("an if tells its branches; nested ifs become one") {
    Expr x = var("x"), y = var("y");
    Stmt inner = make_if(op(Op::LT, y, Expr(3)), make_store("b", x, op(Op::Min, x, Expr(9))));
    Stmt s = make_if(op(Op::LT, x, Expr(5)), inner);
    CHECK(to_string(simplify(s)) == "if x < 5 && y < 3 {\n  b[x] = x\n}\n");
    Stmt opposite =
        make_if(op(Op::LT, x, Expr(5)), make_if(op(Op::GE, x, Expr(5)), make_store("b", x, x)));
    CHECK(!simplify(opposite).defined());
}

TEST_CASE("empty and single loops, dead lets, dead branches") {
    Expr x = var("x");
    Stmt store = make_store("b", x, x);
    CHECK(!simplify(make_for("x", Expr(3), Expr(0), LoopKind::Serial, store)).defined());
    CHECK(to_string(simplify(make_for("x", var("m"), Expr(1), LoopKind::Vectorized, store))) ==
          "b[m] = m\n");
    CHECK(to_string(simplify(make_let("t", op(Op::Div, x, x), store))) == "b[x] = x\n");
    CHECK(to_string(simplify(make_if(Expr(false), store, make_store("c", x, x)))) == "c[x] = x\n");
    CHECK(
        !simplify(make_for("x", Expr(0), var("n"), LoopKind::Serial, make_evaluate(x))).defined());
    CHECK(!simplify(make_store("b", x, x, Expr(false))).defined());
}

// An extern stage's query around a copy of an unrolled loop that is beyond its end.
TEST_CASE("a let of a call with side effects around nothing is that call") {
    Expr asked = make_call(Int(32), "ask", {var("y")}, CallKind::Extern);
    Stmt nothing = make_if(Expr(false), make_store("out", var("x"), var("n")));
    CHECK(to_string(simplify(make_let("n", asked, nothing))) == "evaluate ask(y)\n");
}

TEST_CASE("loads do not move across stores") {
    Expr load = make_load(Int(32), "b", Expr(0));
    Stmt s = make_let(
        "t", load,
        make_block({make_store("b", Expr(0), Expr(7)), make_store("c", Expr(0), var("t"))}));
    CHECK(to_string(simplify(s)) == "let t = b[0]\nb[0] = 7\nc[0] = t\n");
}

TEST_CASE("bindings that hide each other keep their meaning") {
    Expr x = var("x");
    // let a = x + 1 in for x: the loop's x is another one.
    Stmt s =
        make_let("a", op(Op::Add, x, Expr(1)),
                 make_for("x", Expr(0), Expr(4), LoopKind::Serial, make_store("b", x, var("a"))));
    CHECK(to_string(simplify(s)) == "for x_1 in [0, 4) {\n  b[x_1] = x + 1\n}\n");
}

TEST_CASE("asserts hold for what follows") {
    Expr n = var("n");
    Stmt s = make_block({make_assert(op(Op::LE, Expr(8), n), 1, {}),
                         make_store("b", Expr(0), op(Op::Max, n, Expr(8)))});
    CHECK(to_string(simplify(s)) == "assert 8 <= n\nb[0] = n\n");
}

TEST_CASE("long programs take linear time") {
    // 1000 lets, one after the other, each used by the next.
    Expr last = var("v999");
    Stmt s = make_store("b", last, last);
    for (int i = 999; i >= 1; i--) {
        Expr previous = var("v" + std::to_string(i - 1));
        s = make_let("v" + std::to_string(i), op(Op::Max, op(Op::Mul, previous, previous), Expr(i)),
                     s);
    }
    CHECK(simplify(s).defined());
}
