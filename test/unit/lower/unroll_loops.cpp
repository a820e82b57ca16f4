#include "lower/unroll_loops.h"

#include <catch2/catch_test_macros.hpp>

#include "ir/print.h"
#include "ir/simplify.h"
#include "ir/substitute.h"
#include "support/require_message.h"
#include "unit/lower/random_loops.h"
#include "unit/support/set_variable.h"

using namespace Pipe;
using namespace Pipe::ir;
using namespace Pipe::testing;

namespace {

Stmt unrolled(const Expr &extent) {
    return make_for("f.c", number(1), extent, LoopKind::Unrolled,
                    make_store("out", var("f.c"), load("in", var("f.c"))));
}

}  // namespace

TEST_CASE("unroll: one copy per iteration") {
    CHECK(ir::to_string(lower::unroll_loops(unrolled(number(3)))) ==
          "out[1] = in[1]\nout[2] = in[2]\nout[3] = in[3]\n");
}

TEST_CASE("unroll: an extent with a constant bound tests each copy") {
    Expr extent = make_binary(Op::Min, var("n"), number(2));
    std::string text = ir::to_string(lower::unroll_loops(unrolled(extent)));
    INFO(text);
    CHECK(text.find("for") == std::string::npos);
    CHECK(text.find("out[1] = in[1]") != std::string::npos);
    CHECK(text.find("out[2] = in[2]") != std::string::npos);
    CHECK(text.find("out[3]") == std::string::npos);
    CHECK(text.find("if") != std::string::npos);
}

TEST_CASE("unroll: a message describes the loop of the schedule, whatever passes made of it") {
    const auto origin =
        std::make_shared<const LoopOrigin>(LoopOrigin{"f.update(0) (f.cpp:7)", "c"});
    Stmt loop = unrolled(add(var("n"), number(0)));
    loop = make_for(loop->name, loop->min(), loop->extent(), loop->kind, loop->body(),
                    Partitioning::Auto, origin);
    const Stmt now = simplify(substitute("n", add(var("k"), number(2)), loop));
    CHECK(now->extent().get() != loop->extent().get());
    try {
        lower::unroll_loops(now);
        FAIL("unrolled");
    } catch (const CompileError &e) {
        CHECK(std::string(e.what()).find("loop c of f.update(0) (f.cpp:7): ") != std::string::npos);
    }
}

TEST_CASE("unroll: an extent without a bound is refused by name") {
    require_message<CompileError>([] { lower::unroll_loops(unrolled(var("n"))); },
                                  {"Cannot unroll loop f.c", "its extent n is not constant"});
}

TEST_CASE("unroll: without a bound it stays a serial loop if the environment says so") {
    SetVariable permit("HL_PERMIT_FAILED_UNROLL", "1");
    CHECK(ir::to_string(lower::unroll_loops(unrolled(var("n")))) ==
          "for f.c in [1, 1 + n) {\n  out[f.c] = in[f.c]\n}\n");
}

TEST_CASE("unroll: copies of nested loops are counted together") {
    auto nested = [](int outer, int inner) {
        return make_for("f.d", number(0), number(outer), LoopKind::Unrolled,
                        make_block({unrolled(number(inner)), unrolled(number(2))}));
    };
    CHECK_NOTHROW(lower::unroll_loops(nested(64, 64)));
    require_message<CompileError>(
        [&] { lower::unroll_loops(nested(65, 64)); },
        {"Cannot unroll loop f.c", "64 copies", "in each of 65", "limit is 4096"});
    require_message<CompileError>([&] { lower::unroll_loops(nested(1 << 30, 1)); },
                                  {"Cannot unroll loop f.d", "1073741824 copies"});
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
