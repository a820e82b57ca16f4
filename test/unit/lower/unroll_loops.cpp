#include "lower/unroll_loops.h"

#include <catch2/catch_test_macros.hpp>

#include "ir/print.h"
#include "ir/simplify.h"
#include "ir/substitute.h"
#include "support/parse_ir.h"
#include "support/require_message.h"
#include "unit/lower/random_loops.h"
#include "unit/support/set_variable.h"

using namespace Pipe;
using namespace Pipe::ir;
using namespace Pipe::testing;

namespace {

Stmt loop(const Expr &extent) {
    return make_for("f.c", number(1), extent, LoopKind::Unrolled,
                    make_store("out", var("f.c"), load("in", var("f.c"))));
}

std::string unrolled(const std::string &text) {
    return ir::to_string(lower::unroll_loops(parse_stmt(text)));
}

}  // namespace

TEST_CASE("unroll: one copy per iteration") {
    CHECK(unrolled("for c in [1, 4) unrolled {\n  out[c] = in[c]\n}\n") ==
          "out[1] = in[1]\nout[2] = in[2]\nout[3] = in[3]\n");
    CHECK(unrolled("for c in [m, m + 2) unrolled {\n  out[c] = in[c]\n}\n") ==
          "out[m] = in[m]\nout[m + 1] = in[m + 1]\n");
    CHECK(unrolled("for c in [m, m + 1) unrolled {\n  out[c] = in[c]\n}\n") == "out[m] = in[m]\n");
    CHECK(unrolled("for c in [0, 0) unrolled {\n  out[c] = in[c]\n}\n") == "evaluate 0\n");
}

TEST_CASE("unroll: an extent with a constant bound tests the copies that may not be needed") {
    const std::string loop = "for c in [1, 1 + EXTENT) unrolled {\n  out[c] = in[c]\n}\n";
    auto of_extent = [&](const std::string &extent) {
        return unrolled(std::string(loop).replace(loop.find("EXTENT"), 6, extent));
    };
    CHECK(of_extent("min(n, 2)") == "let c.extent = min(n, 2)\n"
                                    "if 0 < c.extent {\n  out[1] = in[1]\n}\n"
                                    "if 1 < c.extent {\n  out[2] = in[2]\n}\n");
    CHECK(of_extent("max(min(n, 3), 2)") == "let c.extent = max(min(n, 3), 2)\n"
                                            "out[1] = in[1]\n"
                                            "out[2] = in[2]\n"
                                            "if 2 < c.extent {\n  out[3] = in[3]\n}\n");
}

TEST_CASE("unroll: the bound may follow from what names stand for, where they do") {
    const std::string loop = "for c in [0, e) unrolled {\n  out[c] = in[c]\n}\n";
    CHECK(unrolled("let e = min(n, 1)\n" + loop) == "let e = min(n, 1)\n"
                                                    "let c.extent = e\n"
                                                    "if 0 < c.extent {\n  out[0] = in[0]\n}\n");
    for (const char *outside : {"let e = n\n", "{\n  let e = min(n, 1)\n  out[e] = 1\n}\n"})
        require_message<CompileError>([&] { unrolled(outside + loop); },
                                      {"Cannot unroll loop c", "its extent e is not constant"});
}

TEST_CASE("unroll: inner loops first; loops of other kinds stay") {
    CHECK(unrolled("for d in [0, 2) unrolled {\n"
                   "  for x in [0, n) {\n"
                   "    for c in [0, 2) unrolled {\n"
                   "      out[x + c + d] = in[c]\n"
                   "    }\n"
                   "  }\n"
                   "}\n") == "for x in [0, n) {\n"
                             "  out[x + 0 + 0] = in[0]\n"
                             "  out[x + 1 + 0] = in[1]\n"
                             "}\n"
                             "for x in [0, n) {\n"
                             "  out[x + 0 + 1] = in[0]\n"
                             "  out[x + 1 + 1] = in[1]\n"
                             "}\n");
    for (const char *kind : {"", " parallel", " vectorized", " gpu_thread"}) {
        const std::string text =
            std::string("for c in [0, 2)") + kind + " {\n  out[c] = in[c]\n}\n";
        CHECK(unrolled(text) == text);
    }
}

TEST_CASE("unroll: a message describes the loop of the schedule, whatever passes made of it") {
    const auto origin =
        std::make_shared<const LoopOrigin>(LoopOrigin{"f.update(0) (f.cpp:7)", "c"});
    Stmt nest = loop(add(var("n"), number(0)));
    nest = make_for(nest->name, nest->min(), nest->extent(), nest->kind, nest->body(),
                    Partitioning::Auto, origin);
    const Stmt now = simplify(substitute("n", add(var("k"), number(2)), nest));
    CHECK(now->extent().get() != nest->extent().get());
    try {
        lower::unroll_loops(now);
        FAIL("unrolled");
    } catch (const CompileError &e) {
        CHECK(std::string(e.what()).find("loop c of f.update(0) (f.cpp:7): ") != std::string::npos);
    }
}

TEST_CASE("unroll: an extent without a bound is refused by name") {
    require_message<CompileError>([] { lower::unroll_loops(loop(var("n"))); },
                                  {"Cannot unroll loop f.c", "its extent n is not constant"});
}

TEST_CASE("unroll: without a bound it stays a serial loop if the environment says so") {
    SetVariable permit("HL_PERMIT_FAILED_UNROLL", "1");
    CHECK(ir::to_string(lower::unroll_loops(loop(var("n")))) ==
          "for f.c in [1, 1 + n) {\n  out[f.c] = in[f.c]\n}\n");
    const std::string inside = "for c in [0, n) {\n  out[c] = in[0]\n  out[c] = in[1]\n}\n";
    CHECK(unrolled("for c in [0, n) unrolled {\n  for d in [0, 2) unrolled {\n"
                   "    out[c] = in[d]\n  }\n}\n") == inside);
    SetVariable refuse("HL_PERMIT_FAILED_UNROLL", "0");
    CHECK_THROWS_AS(lower::unroll_loops(loop(var("n"))), CompileError);
}

TEST_CASE("unroll: copies of nested loops are counted together") {
    auto nested = [](int outer, int inner) {
        return make_for("f.d", number(0), number(outer), LoopKind::Unrolled,
                        make_block({loop(number(inner)), loop(number(2))}));
    };
    CHECK_NOTHROW(lower::unroll_loops(nested(64, 64)));
    require_message<CompileError>(
        [&] { lower::unroll_loops(nested(65, 64)); },
        {"Cannot unroll loop f.c", "64 copies", "in each of 65", "limit is 4096"});
    require_message<CompileError>([&] { lower::unroll_loops(nested(1 << 30, 1)); },
                                  {"Cannot unroll loop f.d", "1073741824 copies"});
    // Loops that stand one behind the other are not nested, nor is a loop without iterations around others.
    CHECK_NOTHROW(lower::unroll_loops(make_block({nested(64, 64), nested(64, 64)})));
    CHECK_NOTHROW(lower::unroll_loops(nested(0, 4096)));
}

TEST_CASE("unroll: random programs compute the same") {
    for (uint32_t seed = 1; seed <= 200; seed++) {
        LoopProgram program = random_loops(seed, {.vectorized = false});
        Stmt now = lower::unroll_loops(program.body);
        for (auto [w, h] : {std::pair{0, 2}, {1, 1}, {7, 3}, {19, 5}}) {
            INFO("seed " << seed << ", " << w << " x " << h << "\n"
                         << program.body << "=>\n"
                         << now);
            REQUIRE(run(program, program.body, w, h) == run(program, now, w, h));
        }
    }
}
