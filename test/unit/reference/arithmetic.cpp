// Scalar arithmetic against values worked out by hand from the notes in ir/expr_node.h.

#include "reference/value.h"

#include <cmath>
#include <limits>

#include <catch2/catch_test_macros.hpp>

#include "ir/intrinsics.h"

using namespace Pipe;
using namespace Pipe::reference;
using ir::Op;

namespace {

int64_t integer(Op op, Type type, int64_t a, int64_t b) {
    Arithmetic arithmetic;
    return arithmetic.binary(op, type, Value::of_int(a), Value::of_int(b)).i;
}

double real(Op op, Type type, double a, double b) {
    Arithmetic arithmetic;
    return arithmetic.binary(op, type, Value::of_float(a), Value::of_float(b)).f;
}

int64_t call(const char *name, Type result, std::vector<Type> types, std::vector<int64_t> args) {
    std::vector<Value> values;
    for (int64_t arg : args)
        values.push_back(Value::of_int(arg));
    Arithmetic arithmetic;
    return arithmetic.intrinsic(name, result, types, values).value().i;
}

int64_t shift(const char *name, Type type, int64_t x, int64_t amount) {
    return call(name, type, {type, Int(32)}, {x, amount});
}

}  // namespace

TEST_CASE("narrow and unsigned integers wrap", "[reference]") {
    CHECK(integer(Op::Add, UInt(8), 250, 10) == 4);
    CHECK(integer(Op::Sub, UInt(8), 3, 5) == 254);
    CHECK(integer(Op::Mul, Int(8), 100, 3) == 44);
    CHECK(integer(Op::Add, Int(16), 32767, 1) == -32768);
    CHECK(integer(Op::Sub, UInt(32), 0, 1) == 4294967295);
    CHECK(static_cast<uint64_t>(integer(Op::Mul, UInt(64), -1, -1)) == 1);
}

TEST_CASE("only overflow of int32 and int64 is undefined", "[reference]") {
    auto undefined = [](Op op, Type type, int64_t a, int64_t b) {
        Arithmetic arithmetic;
        arithmetic.binary(op, type, Value::of_int(a), Value::of_int(b));
        return arithmetic.undefined != nullptr;
    };
    CHECK(undefined(Op::Add, Int(32), INT32_MAX, 1));
    CHECK(undefined(Op::Mul, Int(64), INT64_MAX, 2));
    CHECK(undefined(Op::Div, Int(32), INT32_MIN, -1));
    CHECK_FALSE(undefined(Op::Add, Int(32), INT32_MAX, 0));
    CHECK_FALSE(undefined(Op::Add, Int(16), INT16_MAX, 1));
    CHECK_FALSE(undefined(Op::Mul, UInt(64), -1, -1));
}

TEST_CASE("division leaves a remainder in [0, |divisor|)", "[reference]") {
    CHECK(integer(Op::Div, Int(32), 7, 2) == 3);
    CHECK(integer(Op::Div, Int(32), -7, 2) == -4);
    CHECK(integer(Op::Div, Int(32), 7, -2) == -3);
    CHECK(integer(Op::Div, Int(32), -7, -2) == 4);
    CHECK(integer(Op::Mod, Int(32), -7, 2) == 1);
    CHECK(integer(Op::Mod, Int(32), 7, -2) == 1);
    CHECK(integer(Op::Mod, Int(32), -7, -2) == 1);
    CHECK(integer(Op::Div, Int(32), 5, 0) == 0);
    CHECK(integer(Op::Mod, Int(32), 5, 0) == 0);
    CHECK(integer(Op::Div, UInt(8), 200, 0) == 0);
    CHECK(integer(Op::Div, Int(8), -128, -1) == -128);
    CHECK(integer(Op::Div, UInt(64), -1, 2) == INT64_MAX);
}

TEST_CASE("comparisons see the sign of their type", "[reference]") {
    CHECK(integer(Op::LT, Int(64), -1, 1) == 1);
    CHECK(integer(Op::LT, UInt(64), -1, 1) == 0);
    CHECK(integer(Op::Max, UInt(64), -1, 1) == -1);
}

TEST_CASE("floats are rounded in their own precision", "[reference]") {
    CHECK(real(Op::Add, Float(32), 16777216, 1) == 16777216);
    CHECK(real(Op::Add, Float(64), 16777216, 1) == 16777217);
    CHECK(real(Op::Div, Float(32), 1, 3) == static_cast<double>(1.0f / 3.0f));
    CHECK(real(Op::Mod, Float(32), -1, 3) == 2);
    CHECK(std::isinf(real(Op::Div, Float(32), 1, 0)));
}

TEST_CASE("min and max of a NaN give the second operand", "[reference]") {
    double nan = std::numeric_limits<double>::quiet_NaN();
    CHECK(real(Op::Min, Float(32), nan, 1) == 1);
    CHECK(std::isnan(real(Op::Min, Float(32), 1, nan)));
    CHECK(real(Op::Max, Float(64), nan, 1) == 1);
    CHECK(std::isnan(real(Op::Max, Float(64), 1, nan)));
}

TEST_CASE("casts", "[reference]") {
    Arithmetic a;
    CHECK(a.cast(UInt(8), Int(32), Value::of_int(-1)).i == 255);
    CHECK(a.cast(Int(8), UInt(8), Value::of_int(200)).i == -56);
    CHECK(a.cast(Int(32), Float(32), Value::of_float(-2.75)).i == -2);
    CHECK(a.cast(Bool(), Float(32), Value::of_float(0.25)).i == 1);
    CHECK(a.cast(Bool(), Int(32), Value::of_int(256)).i == 1);
    CHECK(a.cast(Float(32), UInt(64), Value::of_int(-1)).f == 18446744073709551616.0);
    CHECK(a.cast(Float(32), Int(32), Value::of_int(16777217)).f == 16777216);
    CHECK(a.cast(UInt(8), Float(32), Value::of_float(-0.5)).i == 0);
    CHECK(a.undefined == nullptr);
    CHECK(a.cast(UInt(8), Float(32), Value::of_float(256)).i == 255);
    CHECK(a.undefined != nullptr);
}

TEST_CASE("shifts by any amount, in both directions", "[reference]") {
    const char *left = ir::intrinsic::shift_left, *right = ir::intrinsic::shift_right;
    CHECK(shift(left, UInt(8), 0x81, 1) == 2);
    CHECK(shift(right, UInt(8), 0x81, 1) == 0x40);
    CHECK(shift(right, Int(8), -127, 1) == -64);
    CHECK(shift(left, Int(32), 12, -2) == 3);
    CHECK(shift(right, Int(32), 3, -2) == 12);
    CHECK(shift(left, UInt(32), 1, 32) == 0);
    CHECK(shift(right, Int(32), -5, 40) == -1);
    CHECK(shift(right, UInt(32), 5, 40) == 0);
}

TEST_CASE("other intrinsics", "[reference]") {
    CHECK(call(ir::intrinsic::abs, UInt(8), {Int(8)}, {-128}) == 128);
    CHECK(call(ir::intrinsic::absd, UInt(8), {Int(8), Int(8)}, {-128, 127}) == 255);
    CHECK(call(ir::intrinsic::absd, UInt(8), {UInt(8), UInt(8)}, {3, 5}) == 2);
    CHECK(call(ir::intrinsic::bitwise_not, UInt(8), {UInt(8)}, {5}) == 250);
    CHECK(call(ir::intrinsic::bitwise_xor, Int(16), {Int(16), Int(16)}, {-1, 1}) == -2);
}

TEST_CASE("math in the type that the name says", "[reference]") {
    auto f = [](const char *name, double x) { return pure_extern(name, {Value::of_float(x)})->f; };
    CHECK(f("sqrt_f32", 2) == static_cast<double>(std::sqrt(2.0f)));
    CHECK(f("sqrt_f64", 2) == std::sqrt(2.0));
    CHECK(f("round_f32", 2.5) == 2);
    CHECK(f("round_f32", 3.5) == 4);
    CHECK(f("floor_f64", -0.5) == -1);
    CHECK(pure_extern("pow_f32", {Value::of_float(2), Value::of_float(10)})->f == 1024);
    CHECK_FALSE(pure_extern("nonsense_f32", {Value::of_float(1)}).has_value());
}

TEST_CASE("reinterpret keeps the bits", "[reference]") {
    CHECK(reinterpret(UInt(32), Float(32), Value::of_float(1)).i == 0x3f800000);
    CHECK(reinterpret(Float(32), Int(32), Value::of_int(0x40000000)).f == 2);
}
