// The table of intrinsics, and what verify() requires by it.

#include <catch2/catch_test_macros.hpp>

#include "ir/integer_ops.h"
#include "ir/intrinsics.h"
#include "ir/verify.h"
#include "support/parse_ir.h"
#include "support/require_message.h"

using namespace Pipe;
using namespace Pipe::testing;

namespace {

ir::Stmt evaluate(const char *intrinsic, const std::vector<Expr> &args) {
    return ir::make_evaluate(ir::make_call(Int(32), intrinsic, args, ir::CallKind::Intrinsic));
}

const Expr one = ir::make_int(Int(32), 1);

}  // namespace

TEST_CASE("intrinsics: roles") {
    CHECK(ir::is_marker(*parse_expr("likely(a)").get()));
    CHECK(ir::is_marker(*parse_expr("promise_clamped(a, 0, 7)").get()));
    const Types types = {{"f", Float(32)}, {"b", Bool()}};
    const Expr strict = parse_expr("strict_float(f)", types);
    CHECK_FALSE(ir::is_marker(*strict.get()));
    CHECK(ir::keeps_value(*strict.get()));
    CHECK_FALSE(ir::keeps_value(*parse_expr("abs(a)").get()));
    CHECK(ir::is_choice(*parse_expr("if_then_else(b, 1, 2)", types).get()));
    CHECK(ir::is_choice(*parse_expr("select(b, 1, 2)", types).get()));
    CHECK_FALSE(ir::is_choice(*parse_expr("min(a, c)").get()));
    CHECK(
        ir::has_role(*parse_expr("prefix_max(ramp(a, 1, 8))").get(), ir::intrinsic::Role::Prefix));
}

TEST_CASE("intrinsics: only calls of the intrinsic have its role") {
    CHECK_FALSE(ir::is_marker(*ir::make_variable(Int(32), "likely").get()));
    CHECK_FALSE(
        ir::is_marker(*ir::make_call(Int(32), "likely", {one}, ir::CallKind::PureExtern).get()));
    CHECK(ir::intrinsic::properties("sqrt_f32") == nullptr);
}

TEST_CASE("intrinsics: integer operations are operations in the table") {
    for (const char *name : {"saturating_add", "halving_sub", "rounding_shift_left", "popcount",
                             "mul_shift_right", "lerp", "div_round_to_zero"}) {
        const ir::intrinsic::Properties *known = ir::intrinsic::properties(name);
        REQUIRE(known);
        CHECK(known->role == ir::intrinsic::Role::Operation);
        std::vector<Expr> args(static_cast<size_t>(known->min_args), one);
        CHECK(ir::is_integer_op(ir::make_call(Int(32), name, args, ir::CallKind::Intrinsic)));
    }
}

TEST_CASE("intrinsics: verify refuses unknown names, wrong arguments and those of the front end") {
    ir::VerifyOptions lowered;
    lowered.flattened = true;
    CHECK_NOTHROW(ir::verify(evaluate("likely", {one}), lowered));
    require_message<InternalError>([&] { ir::verify(evaluate("unlikely", {one}), lowered); },
                                   {"unknown intrinsic", "unlikely"});
    require_message<InternalError>(
        [&] {
            ir::verify(evaluate("likely", {one, one}), lowered);
        },
        {"number of arguments", "likely"});
    require_message<InternalError>([&] { ir::verify(evaluate("memoize_tag", {one}), lowered); },
                                   {"front end", "memoize_tag"});
    lowered.flattened = false;
    CHECK_NOTHROW(ir::verify(evaluate("scatter_gather", {one, one}), lowered));
}
