// Interval arithmetic against enumeration.

#include <catch2/catch_test_macros.hpp>

#include "ir/intrinsics.h"
#include "poly/range.h"
#include "support/index.h"

using namespace Pipe;
using namespace Pipe::poly;
using namespace test;

TEST_CASE("Every value of a random expression lies in its range") {
    std::mt19937 rng(7);
    for (int round = 0; round < 500; round++) {
        Expr e = random_index(rng, 4);
        const Range range = range_of(e, {{"i", {-3, 5}}, {"j", {0, 4}}, {"r", {1, 2}}});
        for (int64_t i = -3; i <= 5; i++) {
            for (int64_t j = 0; j <= 4; j++) {
                for (int64_t r = 1; r <= 2; r++) {
                    const int64_t x = value_of(e, {{"i", i}, {"j", j}, {"r", r}});
                    REQUIRE(x >= range.min);
                    REQUIRE(x <= range.max);
                }
            }
        }
    }
}

TEST_CASE("Loaded bytes range over their type, wider values over everything") {
    Expr byte = ir::make_call(UInt(8), "f", {var("i")}, ir::CallKind::Func);
    CHECK(range_of(ir::make_cast(Int(32), byte), {}) == Range{0, 255});
    Expr word = ir::make_call(Int(32), "f", {var("i")}, ir::CallKind::Func);
    CHECK_FALSE(range_of(word, {}).bounded());
    CHECK(range_of(clamped(word, 0, 7), {}) == Range{0, 7});
}

TEST_CASE("Products of large ranges saturate") {
    Expr e = var("i");
    for (int k = 0; k < 6; k++)
        e = bin(Op::Mul, e, num(1 << 30));
    CHECK_FALSE(range_of(e, {{"i", {1, 2000}}}).bounded());
}

TEST_CASE("Shifts multiply by powers of two where no bit gets lost") {
    auto shifted = [](const Expr &value, const Expr &amount) {
        return ir::make_call(Int(32), ir::intrinsic::shift_left, {value, amount},
                             ir::CallKind::Intrinsic);
    };
    const Environment names = {{"i", {1, 5}}, {"j", {-3, 7}}, {"k", {-1, 2}}, {"m", {30, 31}}};
    CHECK(range_of(shifted(num(1), var("i")), names) == Range{2, 32});
    CHECK(range_of(shifted(var("j"), var("i")), names) == Range{-96, 224});
    CHECK_FALSE(range_of(shifted(num(1), var("k")), names).bounded());  // to the right, too
    CHECK_FALSE(range_of(shifted(num(1), var("m")), names).bounded());
    CHECK_FALSE(range_of(shifted(num(8), num(29)), names).bounded());
}

TEST_CASE("Integers of few bits, and unsigned ones, wrap") {
    const Expr a = ir::make_variable(UInt(8), "a");
    const Expr sum = ir::make_binary(ir::Op::Add, a, ir::make_const(UInt(8), 100));
    CHECK(range_of(sum, {{"a", {0, 9}}}) == Range{100, 109});
    CHECK(range_of(sum, {{"a", {150, 160}}}) == Range{0, 255});
    const Expr negative = ir::make_cast(UInt(32), ir::make_variable(Int(8), "b"));
    CHECK_FALSE(range_of(negative, {{"b", {-3, 5}}}).bounded());
}
