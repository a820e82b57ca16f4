#include "lower/vectorize_loops.h"

#include <catch2/catch_test_macros.hpp>

#include "ir/print.h"
#include "ir/simplify.h"
#include "lower/unroll_loops.h"
#include "support/require_message.h"
#include "unit/lower/random_loops.h"

using namespace Pipe;
using namespace Pipe::ir;
using namespace Pipe::testing;

namespace {

Stmt vector_loop(const std::string &name, int lanes, Stmt body) {
    return make_for(name, make_int(Int(32), 0), make_int(Int(32), lanes), LoopKind::Vectorized,
                    body);
}

std::string vectorized(int lanes, Stmt body) {
    return ir::to_string(lower::vectorize_loops(vector_loop("x", lanes, body)));
}

const Expr x = var("x"), n = var("n"), k = var("k");

}  // namespace

TEST_CASE("vectorize: dense loads and stores have ramps with a scalar base") {
    Expr at = add(mul(k, number(8)), x);
    Expr wide = make_binary(Op::Add, make_cast(Int(64), at), make_variable(Int(64), "offset"));
    Stmt body = make_store("out", at, make_binary(Op::Mul, load("in", wide), load("gain", k)));
    CHECK(vectorized(8, body) ==
          "out[ramp(k * 8, 1, 8)] = "
          "in[ramp(int64(k * 8) + offset, int64(1), 8)] * broadcast(gain[k], 8)\n");
}

TEST_CASE("vectorize: lanes a multiple of a divisor apart stay evenly spaced") {
    Expr quotient = div(add(mul(x, number(4)), k), number(2)),
         rest = mod(mul(x, number(4)), number(2));
    CHECK(vectorized(8, make_store("out", x, load("in", add(quotient, rest)))) ==
          "out[ramp(0, 1, 8)] = in[ramp(k / 2, 2, 8)]\n");
}

TEST_CASE("vectorize: a test that differs between lanes becomes a mask") {
    Expr at = add(mul(k, number(8)), x);
    Stmt body = make_if(less(at, n), make_store("out", at, load("in", at)),
                        make_store("other", at, number(0)));
    CHECK(vectorized(4, body) == "let x.if = ramp(k * 8, 1, 4) < broadcast(n, 4)\n"
                                 "out[ramp(k * 8, 1, 4)] = in[ramp(k * 8, 1, 4) if x.if] if x.if\n"
                                 "let x.mask = !x.if\n"
                                 "other[ramp(k * 8, 1, 4)] = broadcast(0, 4) if x.mask\n");
}

TEST_CASE("vectorize: what all lanes skip needs no mask") {
    Expr at = add(mul(k, number(8)), x);
    Expr both = make_binary(Op::And, less(at, n), make_binary(Op::NE, k, number(0)));
    CHECK(vectorized(4, make_if(both, make_store("out", at, load("in", at)))) ==
          "if k != 0 {\n"
          "  let x.mask = ramp(k * 8, 1, 4) < broadcast(n, 4)\n"
          "  out[ramp(k * 8, 1, 4)] = in[ramp(k * 8, 1, 4) if x.mask] if x.mask\n"
          "}\n");
}

TEST_CASE("vectorize: the end of a loop has no masks that the target has no instructions for") {
    const Target sse("x86-64-linux-sse41"), avx2("x86-64-linux-avx2");
    auto on = [](const Target &target, Type type, int additions = 1) {
        Expr at = add(mul(k, number(8)), x);
        Expr in = make_load(type, "in", at), value = in;
        for (int i = 0; i < additions; i++)
            value = make_binary(Op::Add, value, in);
        Stmt body = make_if(less(at, n), make_store("out", at, value));
        return ir::to_string(lower::vectorize_loops(vector_loop("x", 4, body), &target));
    };
    auto has_masks = [](const std::string &text) { return text.find("mask") != std::string::npos; };
    std::string lanes = on(sse, Int(32));
    CHECK(lanes == "if k * 8 + 3 < n {\n"
                   "  out[ramp(k * 8, 1, 4)] = in[ramp(k * 8, 1, 4)] + in[ramp(k * 8, 1, 4)]\n"
                   "} else {\n"
                   "  for x in [0, 4) remainder {\n"
                   "    if k * 8 + x < n {\n"
                   "      out[k * 8 + x] = in[k * 8 + x] + in[k * 8 + x]\n"
                   "    }\n"
                   "  }\n"
                   "}\n");
    CHECK(has_masks(on(avx2, Int(32))));
    CHECK(has_masks(on(avx2, Int(32), 0)));
    // A load and a store without instructions for masks cost as much as eight additions.
    CHECK_FALSE(has_masks(on(avx2, Int(16))));
    CHECK_FALSE(has_masks(on(avx2, Int(16), 8)));
    CHECK(has_masks(on(avx2, Int(16), 9)));
    CHECK(has_masks(on(Target("x86-64-linux-avx512_skylake"), Int(16))));
}

TEST_CASE("vectorize: what repeats with a period is made phase by phase") {
    Expr even = make_binary(Op::EQ, mod(x, number(2)), number(0));
    Expr planes = make_select(even, load("a", div(x, number(2))), load("b", div(x, number(2))));
    Stmt both = lower::vectorize_loops(vector_loop("x", 8, make_store("out", x, planes)));
    CHECK(ir::to_string(simplify(both)) ==
          "out[ramp(0, 1, 8)] = interleave(a[ramp(0, 1, 4)], b[ramp(0, 1, 4)], 8)\n");
    SECTION("beside what is dense as it is") {
        CHECK(
            vectorized(4, make_store("out", x, add(load("a", div(x, number(2))), load("c", x)))) ==
            "out[ramp(0, 1, 4)] = interleave(a[ramp(0, 1, 2)], a[ramp(0, 1, 2)], 4) + "
            "c[ramp(0, 1, 4)]\n");
    }
    SECTION("at a coordinate that has a name, from an unknown place on") {
        Expr at = make_variable(Int(32), "at");
        Stmt body = make_store("out", x, load("a", div(at, number(2))));
        CHECK(vectorized(4, make_let("at", add(x, k), body)) ==
              "let at.v = ramp(k, 1, 4)\n"
              "out[ramp(0, 1, 4)] = interleave(a[ramp(k / 2, 1, 2)], a[ramp((k + 1) / 2, 1, 2)], "
              "4)\n");
    }
    SECTION("not where the name has come to mean something else") {
        Expr at = make_variable(Int(32), "at");
        Stmt body = make_store("out", x, load("a", div(at, number(2))));
        Stmt hidden = make_let("at", add(x, k), make_let("at", load("in", x), body));
        CHECK(vectorized(4, hidden).find("interleave") == std::string::npos);
        Stmt after = make_store("out", x, load("a", div(x, number(2))));
        Stmt tested =
            make_let("at", add(x, k), make_if(less(at, n), make_let("at", load("in", x), after)));
        CHECK(vectorized(4, tested).find("interleave") == std::string::npos);
    }
    SECTION("under a test") {
        Stmt body = make_store("out", x, load("a", div(x, number(2))));
        CHECK(vectorized(4, make_if(less(x, n), body)) ==
              "let x.mask = ramp(0, 1, 4) < broadcast(n, 4)\n"
              "out[ramp(0, 1, 4)] = interleave("
              "a[ramp(0, 1, 2) if ramp(0, 2, 2) < broadcast(n, 2)], "
              "a[ramp(0, 1, 2) if ramp(1, 2, 2) < broadcast(n, 2)], 4) if x.mask\n");
    }
    SECTION("a phase whose lanes are all off reads nothing") {
        Stmt body = make_store("out", x, load("a", mod(x, number(2))));
        CHECK(vectorized(4, make_if(less(x, n), body)) ==
              "let x.mask = ramp(0, 1, 4) < broadcast(n, 4)\n"
              "out[ramp(0, 1, 4)] = interleave("
              "a[broadcast(0, 2) if ramp(0, 2, 2) < broadcast(n, 2)], "
              "a[broadcast(1, 2) if ramp(1, 2, 2) < broadcast(n, 2)], 4) if x.mask\n");
    }
    SECTION("not under one that reads memory, nor with a period that does not divide the lanes") {
        Stmt body = make_store("out", x, load("a", div(x, number(2))));
        for (const Expr &at : {x, div(x, number(2))}) {
            INFO(at);
            std::string tested = vectorized(4, make_if(less(load("m", at), n), body));
            CHECK(tested.find("out[ramp(0, 1, 4)] = a[") != std::string::npos);
        }
        CHECK(vectorized(4, make_store("out", x, load("a", div(x, number(3))))) ==
              "out[ramp(0, 1, 4)] = a[ramp(0, 1, 4) / broadcast(3, 4)]\n");
    }
    SECTION("once, under a test") {  // 4 phases, in each of which b would have 4 again
        Expr quarter = div(x, number(4));
        Expr b = load("b", div(ir::min(quarter, k), number(4)));
        Stmt body = make_store("out", x, add(load("a", quarter), b));
        std::string text = vectorized(32, make_if(less(x, n), body));
        CHECK(text.find("interleave") != std::string::npos);
        for (size_t at = text.find("b["); at != std::string::npos; at = text.find("b[", at + 1))
            CHECK(text.substr(at, text.find(']', at) - at).find(" if ") != std::string::npos);
    }
    SECTION("twice as large, and that twice as large") {
        Expr quarter = div(add(div(x, number(2)), number(1)), number(2));
        CHECK(vectorized(8, make_store("out", x, load("a", quarter))) ==
              "out[ramp(0, 1, 8)] = interleave(a[ramp(0, 1, 2)], a[ramp(0, 1, 2)], "
              "a[ramp(1, 1, 2)], a[ramp(1, 1, 2)], 8)\n");
    }
}

TEST_CASE("vectorize: an allocation inside gets a copy per lane, lanes innermost") {
    Stmt body =
        make_block({make_store("t", number(1), x), make_store("out", x, load("t", number(1)))});
    CHECK(vectorized(4, make_allocate("t", Int(32), {number(3)}, MemoryType::Auto, body)) ==
          "allocate t[int32 * 3 * 4] {\n"
          "  t[ramp(4, 1, 4)] = ramp(0, 1, 4)\n"
          "  out[ramp(0, 1, 4)] = t[ramp(4, 1, 4)]\n"
          "}\n");
}

TEST_CASE("vectorize: reductions combine the lanes, other stores to one place keep the last lane") {
    CHECK(vectorized(4, make_store("sum", k, add(load("sum", k), load("in", x)))) ==
          "sum[k] = sum[k] + reduce<+>(in[ramp(0, 1, 4)], 1)\n");
    CHECK(vectorized(4, make_store("last", k, load("in", x))) == "let x = 3\nlast[k] = in[x]\n");
}

TEST_CASE("vectorize: what may collide or has side effects is done lane by lane") {
    Expr bin = load("in", x);
    CHECK(vectorized(4, make_store("histogram", bin, add(load("histogram", bin), number(1)))) ==
          "for x in [0, 4) unpartitioned {\n  histogram[in[x]] = histogram[in[x]] + 1\n}\n");
    Stmt scan = make_store("a", x, add(load("a", sub(x, number(1))), number(1)));
    CHECK(vectorized(4, scan) == "for x in [0, 4) unpartitioned {\n  a[x] = a[x - 1] + 1\n}\n");
    Stmt call = make_evaluate(make_call(Int(32), "log", {x}, CallKind::Extern));
    CHECK(vectorized(4, call) == "for x in [0, 4) unpartitioned {\n  evaluate log(x)\n}\n");
}

TEST_CASE("vectorize: names of what advances evenly do not hide that lanes are apart") {
    Expr c = var("c"), d = var("d"), at = add(mul(k, number(32)), sub(d, n));
    Stmt update = make_store("sum", at, add(load("sum", at), load("in", x)));
    Stmt named =
        make_let("c", add(mul(k, number(8)), add(x, n)), make_let("d", add(c, number(1)), update));
    std::string text = vectorized(8, named);
    INFO(text);
    CHECK(text.find("for x") == std::string::npos);
    // .. nor that they are not
    Stmt scan = make_store("sum", at, add(load("sum", sub(at, number(1))), load("in", x)));
    text = vectorized(8, make_let("c", add(x, n), make_let("d", add(c, number(1)), scan)));
    CHECK(text.find("for x") != std::string::npos);
}

TEST_CASE("vectorize: the extent must be constant and small") {
    Stmt store = make_store("out", x, x);
    Stmt loop = make_for("f.x", number(0), n, LoopKind::Vectorized, store);
    require_message<CompileError>([&] { lower::vectorize_loops(loop); },
                                  {"Cannot vectorize loop f.x", "its extent n is not constant"});
    require_message<CompileError>([&] { lower::vectorize_loops(vector_loop("f.x", 5000, store)); },
                                  {"5000 lanes are too many"});
}

TEST_CASE("vectorize: random programs compute the same") {
    for (uint32_t seed = 1; seed <= 400; seed++) {
        LoopProgram program = random_loops(seed, {.rich_bodies = seed % 2 == 0});
        const Target without_masks("x86-64-linux-sse41");
        Stmt now = lower::vectorize_loops(program.body, seed % 4 < 2 ? &without_masks : nullptr);
        for (auto [w, h] : {std::pair{0, 2}, {1, 1}, {7, 3}, {19, 5}, {40, 2}}) {
            INFO("seed " << seed << ", " << w << " x " << h << "\n"
                         << program.body << "=>\n"
                         << now);
            REQUIRE(run(program, program.body, w, h) == run(program, now, w, h));
        }
    }
}
