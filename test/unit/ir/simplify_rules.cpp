#include <catch2/catch_test_macros.hpp>

#include <ctime>
#include <functional>

#include "ir/cse.h"
#include "ir/equal.h"
#include "ir/intrinsics.h"
#include "ir/linear.h"
#include "ir/print.h"
#include "ir/simplify.h"
#include "ir/visit.h"
#include "support/evaluate.h"

using namespace Pipe;
using namespace Pipe::ir;

namespace {

Expr operator+(Expr a, Expr b) {
    return make_binary(Op::Add, a, b);
}
Expr operator-(Expr a, Expr b) {
    return make_binary(Op::Sub, a, b);
}
Expr operator*(Expr a, Expr b) {
    return make_binary(Op::Mul, a, b);
}
Expr operator/(Expr a, Expr b) {
    return make_binary(Op::Div, a, b);
}
Expr operator%(Expr a, Expr b) {
    return make_binary(Op::Mod, a, b);
}
Expr operator<(Expr a, Expr b) {
    return make_binary(Op::LT, a, b);
}
Expr operator<=(Expr a, Expr b) {
    return make_binary(Op::LE, a, b);
}
Expr operator==(Expr a, Expr b) {
    return make_binary(Op::EQ, a, b);
}
Expr operator&&(Expr a, Expr b) {
    return make_binary(Op::And, a, b);
}
Expr operator||(Expr a, Expr b) {
    return make_binary(Op::Or, a, b);
}
Expr least(Expr a, Expr b) {
    return make_binary(Op::Min, a, b);
}
Expr most(Expr a, Expr b) {
    return make_binary(Op::Max, a, b);
}

Expr c(int32_t value) {
    return Expr(value);
}
Expr var(const std::string &name, Type type = Int(32)) {
    return make_variable(type, name);
}
Expr likely(Expr e) {
    return make_call(e.type(), intrinsic::likely, {e}, CallKind::Intrinsic);
}

const Expr x = var("x"), y = var("y"), z = var("z");

std::string simple(const Expr &e) {
    return to_string(simplify(e));
}

/// Of the processor: others that run beside do not count.
double seconds(const std::function<void()> &f) {
    const std::clock_t start = std::clock();
    f();
    return static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
}

}  // namespace

TEST_CASE("sums cancel and have one order") {
    CHECK(simple((x + c(3)) - (x - c(1))) == "4");
    CHECK(simple(y + c(1) + x - c(3)) == "x + y - 2");
    CHECK(equal(simplify(x + (y + z)), simplify((z + x) + y)));
    CHECK(simple((x + y) * c(3) - x * c(3)) == "y * 3");
    CHECK(simple(x * c(3) + y * c(3) + z) == "(x + y) * 3 + z");
    CHECK(simple(c(5) - x) == "5 - x");
    CHECK(simple(x - x) == "0");
}

TEST_CASE("division and remainder") {
    CHECK(simple((x * c(8) + c(3)) / c(8)) == "x");
    CHECK(simple((x * c(8) + y % c(8)) % c(8)) == "y % 8");
    CHECK(simple((x * c(8) + y % c(8)) / c(8)) == "x");
    CHECK(simple((x + c(9)) / c(8)) == "(x + 1) / 8 + 1");
    CHECK(simple((x * c(2) + c(1)) / c(4)) == "x / 2");
    CHECK(simple(x / c(4) / c(2)) == "x / 8");
    CHECK(simple(x % c(16) % c(4)) == "x % 4");
    CHECK(simple(x / c(8) * c(8) + x % c(8)) == "x");
    CHECK(simple(x - x / c(8) * c(8)) == "x % 8");
    CHECK(simple(x <= (x + c(7)) / c(8) * c(8)) == "true");
    CHECK(simple(x / c(0)) == "0");
    CHECK(simple(c(-7) / c(2)) == "-4");
    CHECK(simple(c(-7) % c(-2)) == "1");
}

TEST_CASE("a division of data keeps its constant, where taking some out is one addition more") {
    Expr value = make_cast(Int(32), make_load(Int(16), "in", x));
    CHECK(simple((value + c(1000)) / c(256)) == "(int32(in[x]) + 1000) / 256");
    CHECK(simple((value - c(1000)) / c(256)) == "(int32(in[x]) - 1000) / 256");
    CHECK(simple((value + c(512)) / c(256)) == "int32(in[x]) / 256 + 2");
    CHECK(simple((value + x * c(256) + c(257)) / c(256)) == "x + (int32(in[x]) + 1) / 256 + 1");
}

TEST_CASE("minimum, maximum, clamps") {
    CHECK(simple(least(x + c(1), x + c(3))) == "x + 1");
    CHECK(simple(least(least(x, c(5)), c(7))) == "min(x, 5)");
    CHECK(simple(most(least(most(least(x, c(5)), c(0)), c(7)), c(-1))) == "max(min(x, 5), 0)");
    CHECK(simple(least(x, most(x, y))) == "x");
    CHECK(simple(least(x + c(3), y + c(3)) - least(x, y)) == "3");
    CHECK(simple(c(0) <= most(y, least(x, z)) - least(x, z)) == "true");
    CHECK(simple(least(likely(x), x + c(5))) == "x");
    CHECK(simple(least(likely(x), y)) == "min(likely(x), y)");
    CHECK(simple(make_select(x < y, x, y)) == "min(x, y)");
}

TEST_CASE("comparisons and logic") {
    CHECK(simple(x + c(1) < y + c(1)) == "x < y");
    CHECK(simple(x <= c(4)) == "x < 5");
    CHECK(simple(x / c(8) < y) == "x < y * 8");
    CHECK(simple(y <= x / c(8)) == "y * 8 <= x");
    CHECK(simple(x * c(2) == y * c(2) + c(1)) == "false");
    CHECK(simple(x < c(5) && x < c(7)) == "x < 5");
    CHECK(simple(x < c(5) && c(5) <= x) == "false");
    CHECK(simple(x < c(5) || c(3) < x) == "true");
    CHECK(simple(make_not(x < y)) == "y <= x");
    Expr f = var("f", Float(32)), g = var("g", Float(32));
    CHECK(simple(make_not(f < g)) == "!(f < g)");
}

TEST_CASE("types that wrap are not treated as if they did not") {
    Expr a = var("a", UInt(8)), one = Expr(uint8_t(1));
    CHECK(simple(a < a + one) == "a < a + uint8(1)");
    CHECK(simple(least(a, Expr(uint8_t(255)))) == "a");
    CHECK(simple((a + one) + Expr(uint8_t(255))) == "a");
    CHECK(simple(make_cast(UInt(8), make_cast(Int(32), a))) == "a");
    CHECK(simple(least(make_cast(Int(32), a), c(255))) == "int32(a)");
    Expr wide = make_cast(Int(32), a + one);
    CHECK(simple(wide) == "int32(a + uint8(1))");
}

TEST_CASE("floats are left as they are") {
    Expr f = var("f", Float(32)), zero = Expr(0.0f);
    CHECK(simple(f * zero) == "f * 0.0f");
    CHECK(simple(f + zero) == "f + 0.0f");
    CHECK(simple(f - f) == "f - f");
    CHECK(simple((f + Expr(1.0f)) + Expr(2.0f)) == "f + 1.0f + 2.0f");
    CHECK(simple(f * Expr(1.0f)) == "f");
    CHECK(simple(Expr(1.0f) / Expr(3.0f)) == to_string(Expr(1.0f / 3.0f)));
    CHECK(simple(f == f) == "f == f");
}

TEST_CASE("vectors") {
    auto ramp = [](Expr base, int stride, int lanes) { return make_ramp(base, c(stride), lanes); };
    auto wide = [](Expr e, int lanes) { return make_broadcast(e, lanes); };
    CHECK(simple(ramp(x * c(8), 1, 8) + wide(y, 8)) == "ramp(x * 8 + y, 1, 8)");
    CHECK(simple(ramp(x, 1, 8) - ramp(y, 1, 8)) == "broadcast(x - y, 8)");
    CHECK(simple(ramp(x, 1, 8) * wide(c(3), 8)) == "ramp(x * 3, 3, 8)");
    CHECK(simple(ramp(x * c(8), 1, 8) / wide(c(8), 8)) == "broadcast(x, 8)");
    CHECK(simple(ramp(x * c(8), 2, 4) % wide(c(8), 4)) == "ramp(0, 2, 4)");
    CHECK(simple(ramp(c(0), 1, 8) < wide(c(8), 8)) == "broadcast(true, 8)");
    CHECK(simple(least(ramp(x, 1, 8), wide(x + c(7), 8))) == "ramp(x, 1, 8)");
    CHECK(simple(make_cast(Int(64, 8), ramp(x, 2, 8))) == "ramp(int64(x), int64(2), 8)");
    CHECK(simple(make_load(Float(32, 4), "b", wide(x, 4))) == "broadcast(b[x], 4)");
    CHECK(simple(make_vector_reduce(Op::Add, wide(x, 8), 2)) == "broadcast(x * 4, 2)");
    CHECK(simple(make_interleave({wide(x + c(0), 4), wide(x, 4)})) == "broadcast(x, 8)");
    CHECK(simple(make_interleave({x, y + y})) == "interleave(x, y * 2, 2)");
}

TEST_CASE("a quotient and its remainder join") {
    Expr w = make_cast(Int(64), x);
    auto wide = [](const Expr &e) { return make_cast(Int(64), e); };
    auto all = [](int n) { return make_broadcast(c(n), 8); };
    CHECK(simple(x % c(3) + c(3) * (x / c(3))) == "x");
    CHECK(simple(y + x % c(3) * c(2) + x / c(3) * c(6)) == "x * 2 + y");
    CHECK(simple(x - x / c(3) * c(3)) == "x % 3");
    CHECK(simple((x + c(4)) % c(3) + (x + c(4)) / c(3) * c(3)) == "x + 4");
    // In parts of parts, and after a cast.
    CHECK(simple(x / c(4) % c(3) + x / c(12) * c(3)) == "x / 4");
    CHECK(simple(x % c(4) + x / c(4) % c(3) * c(4) + x / c(12) * c(12)) == "x");
    CHECK(simple(wide(x % c(3)) + wide(x / c(3)) * make_int(Int(64), 3)) == "int64(x)");
    CHECK(simple(w + wide(x / c(4) % c(3)) + wide(x / c(12)) * make_int(Int(64), 3)) ==
          "int64(x) + int64(x / 4)");
    // In lanes.
    Expr v = make_ramp(x, c(1), 8);
    CHECK(simple(v % all(3) + v / all(3) * all(3)) == "ramp(x, 1, 8)");
    CHECK(simple(make_cast(Int(64, 8), v % all(3)) +
                 make_cast(Int(64, 8), v / all(3)) * make_cast(Int(64, 8), all(3))) ==
          "ramp(int64(x), int64(1), 8)");
    CHECK(simple(make_let(
              "q", x / c(3),
              make_let("r", x % c(3), var("q") * c(3) + var("r") + var("q") - var("q")))) == "x");
    // Other quotients stay.
    CHECK(simple(x % c(3) + x / c(3) * c(4)) == "x / 3 * 4 + x % 3");
    CHECK(simple(x % c(3) + y / c(3) * c(3)) == "y / 3 * 3 + x % 3");
}

TEST_CASE("indices in 64 bits meet") {
    Expr a = make_cast(Int(64), x * c(8) + y - c(3)), b = make_cast(Int(64), x * c(8) + y);
    CHECK(simple(b - a) == "int64(3)");
    // Data stays in 32 bits.
    Expr load = make_load(Int(32), "b", x);
    CHECK(simple(make_cast(Int(64), load + c(1))) == "int64(b[x] + 1)");
}

TEST_CASE("facts decide") {
    Facts facts;
    facts.bound("x", {0, 31});
    facts.assume(y < z);
    CHECK(to_string(simplify(most(x, c(0)), facts)) == "x");
    CHECK(can_prove(x < c(32), facts));
    CHECK(!can_prove(x < c(31), facts));
    CHECK(can_prove(y + c(1) <= z, facts));
    CHECK(!can_prove(y + c(2) <= z, facts));
    CHECK(can_prove(y * c(2) < z * c(2), facts));
    CHECK(can_prove(y + x < z + c(32), facts));
    size_t mark = facts.mark();
    facts.assume(z <= c(7));
    CHECK(can_prove(y < c(7), facts));
    facts.rewind(mark);
    CHECK(!can_prove(y < c(7), facts));
    Facts inner(&facts);
    inner.assume(x < z);
    CHECK(can_prove(x < z && y < z, inner));
}

TEST_CASE("differences of all lanes") {
    auto lanes = [](const Expr &e) { return make_broadcast(e, 4); };
    const Expr place = make_variable(Int(32, 4), "place"),
               other = make_variable(Int(32, 4), "other");
    CHECK(constant_difference_of_lanes(place + lanes(x + c(3)), lanes(x) + place) == 3);
    CHECK(constant_difference_of_lanes(place, place) == 0);
    CHECK_FALSE(constant_difference_of_lanes(place + lanes(x), place + lanes(y)));
    CHECK_FALSE(constant_difference_of_lanes(place, other));
    CHECK_FALSE(constant_difference_of_lanes(place + place, place));
    CHECK_FALSE(constant_difference_of_lanes(place, place + other));
    const Type wide = Int(64, 4);
    auto widened = [&](const Expr &e) { return make_cast(wide, e); };
    CHECK(constant_difference_of_lanes(widened(place + lanes(c(5))), widened(place)) == 5);
    CHECK_FALSE(constant_difference_of_lanes(widened(place), widened(other)));
    auto ramp = [&](const Expr &base) { return make_ramp(base, c(2), 4); };
    CHECK(constant_difference_of_lanes(place + ramp(x + c(1)), place + ramp(x)) == 1);
    CHECK_FALSE(constant_difference_of_lanes(place + ramp(x), place + make_ramp(x, c(3), 4)));
}

TEST_CASE("linear forms") {
    CHECK(constant_difference(x + y + c(3), y + x) == 3);
    CHECK(!constant_difference(x, y));
    CHECK(prove_le(x, x + c(1)));
    CHECK(!prove_le(x + c(1), x));
    Linear sum = Linear::from_expr(x * c(4) - y + c(7));
    CHECK(sum.coefficient(x) == 4);
    CHECK(sum.coefficient(y) == -1);
    CHECK(sum.coefficient(z) == 0);
    CHECK(to_string(sum.to_expr()) == "x * 4 - y + 7");
    // A coefficient that int32 cannot hold.
    Expr large = x * c(100000) * c(100000);
    CHECK(!Linear::from_expr(large).representable());
    CHECK(simple(large) == "x * 100000 * 100000");
}

TEST_CASE("long chains take linear time") {
    auto sum = [](int length) {
        Expr e = x;
        for (int i = 1; i < length; i++)
            e = i % 3 ? e + var("v" + std::to_string(i % 400)) * c(i) : e - c(i);
        return e;
    };
    auto clamps = [](int length) {
        Expr e = x;
        for (int i = 1; i < length; i++)
            e = most(least(e, var("v" + std::to_string(i))), c(i));
        return e;
    };
    auto fastest = [](const Expr &e) {
        double best = 1e9;
        for (int i = 0; i < 3; i++)
            best = std::min(best, seconds([&] { simplify(e); }));
        return best;
    };
    // Quadratic would be 16 times as long.
    CHECK(fastest(sum(1000)) < 10 * fastest(sum(250)));
    CHECK(fastest(clamps(1000)) < 10 * fastest(clamps(250)));
}

// One with as many steps as there are paths would not come back.
TEST_CASE("shared graphs are looked at once") {
    Expr doubled = x, products = var("q", UInt(16));
    for (int i = 0; i < 30; i++)
        doubled = doubled + doubled;
    for (int i = 0; i < 60; i++)
        products = products * products + products % Expr(uint16_t(7));
    CHECK(simple(doubled) == "x * 1073741824");
    CHECK(simplify(products).type() == UInt(16));
}

TEST_CASE("cse of a graph with exponentially many paths") {
    Expr e = make_load(Float(32), "b", x);
    for (int i = 0; i < 60; i++)
        e = e * e;
    Expr shared = cse(e);
    int lets = 0;
    for (Expr body = shared; body->op == Op::Let; body = body->body())
        lets++;
    CHECK(lets == 60);
}

TEST_CASE("cse names what is computed twice, and only that") {
    Expr load = make_load(Float(32), "b", x * y + z);
    CHECK(to_string(cse(load * load + load)) == "let t0 = b[x * y + z] in t0 * t0 + t0");
    CHECK(to_string(cse(load * make_load(Float(32), "b", x * y + z))) ==
          "let t0 = b[x * y + z] in t0 * t0");
    CHECK(to_string(cse(x + c(1) + (x + c(1)))) == "x + 1 + (x + 1)");
    // The ramps stay in the loads; what they start from is shared.
    Expr base = make_load(Int(32), "i", x), index = make_ramp(base, c(1), 8);
    Expr vectors = make_load(Float(32, 8), "a", index) + make_load(Float(32, 8), "b", index);
    CHECK(to_string(cse(vectors)) == "let t0 = i[x] in a[ramp(t0, 1, 8)] + b[ramp(t0, 1, 8)]");
    // Lets are seen through.
    CHECK(to_string(cse(make_let("u", load, var("u", Float(32)) + load))) ==
          "let t0 = b[x * y + z] in t0 + t0");
}

TEST_CASE("cse keeps the arms of if_then_else closed") {
    Expr a = make_load(Int(32), "a", x), b = make_load(Int(32), "b", x);
    Expr e =
        make_call(Int(32), intrinsic::if_then_else, {x < y, a * a, b + c(1)}, CallKind::Intrinsic);
    CHECK(to_string(cse(e + b)) ==
          "let t0 = b[x] in if_then_else(x < y, let t1 = a[x] in t1 * t1, t0 + 1) + t0");
    CHECK(to_string(cse(e)) == "if_then_else(x < y, let t0 = a[x] in t0 * t0, b[x] + 1)");
}

TEST_CASE("a comparison with a quotient becomes a product that cannot overflow", "[simplify]") {
    auto divides = [](const Expr &e) {
        return contains(e, [](const ExprNode &n) { return n.op == Op::Div; });
    };
    auto check = [&](const Expr &limit, int divisor, const Facts &facts, bool stays) {
        INFO(to_string(limit) << ", " << divisor);
        CHECK(divides(simplify(limit <= x / c(divisor), facts)) == stays);
        CHECK(divides(simplify(x / c(divisor) < limit, facts)) == stays);
    };
    check(make_load(Int(32), "data", x), 100, {}, true);  // any number of its type
    check(y, 100, {}, false);
    check(y, 34890, {}, true);  // 73645 is no unusual index
    check(y * y, 4, {}, true);  // of y = 46302, the product fits, but not four times the product
    Facts facts;
    facts.bound("y", {0, 60000});
    check(y, 34890, facts, false);
    facts.bound("z", {0, 62000});
    check(z, 34890, facts, true);
}

TEST_CASE("a comparison keeps a constant near the limits of its type where it is", "[simplify]") {
    const Expr far = c(INT32_MAX);
    CHECK(to_string(simplify(x - far < x - y + z)) == "x - 2147483647 < x + z - y");
    CHECK(to_string(simplify(x - far < y)) == to_string(x - far < y));
    CHECK(to_string(simplify(x - c(1000) < x - y + z)) == "y < z + 1000");
    CHECK(to_string(simplify(x + c(5) < far)) == "x < 2147483642");
}

TEST_CASE("nothing is added to what may be a constant near the limits of its type", "[simplify]") {
    const Expr none = make_select(x == c(3), x, c(INT32_MAX));
    CHECK(to_string(simplify(none < y - z)) == to_string(none < y - z));
    CHECK(to_string(simplify(min(x, c(INT32_MIN) / c(2)) < y - z)) ==
          "min(x, -1073741824) < y - z");
    CHECK(to_string(simplify(x * c(100000000) < y - z)) == "x * 100000000 < y - z");
    CHECK(to_string(simplify(make_select(x == c(3), x, c(10000)) < y - z)) ==
          "z + select(x == 3, x, 10000) < y");
    // of a float: the cast of an index that is scaled
    const auto scaled = [&](double factor) {
        return make_cast(
            Int(32), make_binary(Op::Mul, make_cast(Float(64), x), make_float(Float(64), factor)));
    };
    CHECK(to_string(simplify(scaled(2e8) < y - z)).ends_with("< y - z"));
    CHECK(to_string(simplify(scaled(0.5) < y - z)).starts_with("z + "));
    // min(x + far, y - 1) is not min(x, y - (far + 1)) + far, which overflows for y < 0.
    const Expr far = c(INT32_MAX);
    for (const Expr &sums :
         {min(x + far, y - c(1)), max(z + x + far, z + y), min(x - far, y + c(2))}) {
        const Expr simple = simplify(sums);
        INFO(to_string(simple));
        for (int at : {-2, -1, 0, 1, 2}) {
            const test::Environment values{
                {"x", {test::Value{0}}}, {"y", {test::Value{at}}}, {"z", {test::Value{0}}}};
            CHECK((*test::evaluate_wrapping(simple, values))[0].i ==
                  (*test::evaluate(sums, values))[0].i);
        }
    }
}

TEST_CASE("a dividend that does not fit its type is not split", "[simplify]") {
    // x % 16 is x - 48144 * 16 here: products of the two terms with 97193 overflow.
    const int at = 48144 * 16;
    Facts facts;
    facts.bound("x", {at + 3, at + 9});
    for (Op op : {Op::Div, Op::Mod}) {
        const Expr simple = simplify(make_binary(op, x % c(16) * c(97193), c(71690)), facts);
        INFO(to_string(simple));
        for (int i = at + 3; i <= at + 9; i++) {
            const int product = i % 16 * 97193;
            const auto value = test::evaluate_wrapping(simple, {{"x", {test::Value{i}}}});
            CHECK((*value)[0].i == (op == Op::Div ? product / 71690 : product % 71690));
        }
    }
}

TEST_CASE("terms are not moved past operations that may reach the limits of int32", "[simplify]") {
    // With x = 7, each of these operations gives an end of int32.
    auto check = [&](const char *name, const std::vector<Expr> &args, int64_t value) {
        const Expr operation = make_call(Int(32), name, args, CallKind::Intrinsic);
        for (int at : {-9, 9}) {
            const test::Environment values{
                {"x", {test::Value{7}}}, {"y", {test::Value{at}}}, {"z", {test::Value{0}}}};
            for (const auto &[comparison, expected] :
                 {std::pair{operation < z - y, value < -at},
                  std::pair{z - y <= operation, -at <= value}}) {
                const Expr simple = simplify(comparison);
                INFO(to_string(simple) << ", y = " << at);
                CHECK((*test::evaluate_wrapping(simple, values))[0].i == expected);
            }
        }
    };
    const Expr largest = c(INT32_MAX), unsigned_1 = make_const(UInt(32), 1);
    check(intrinsic::rounding_shift_left, {x, c(40)}, INT32_MAX);
    check(intrinsic::rounding_shift_left, {c(0) - x, c(40)}, INT32_MIN);
    check(intrinsic::rounding_shift_right, {x, c(-40)}, INT32_MAX);
    check(intrinsic::rounding_shift_right, {c(0) - x, x - c(40)}, INT32_MIN);
    check(intrinsic::saturating_add, {x, largest}, INT32_MAX);
    check(intrinsic::saturating_sub, {c(0) - x, largest}, INT32_MIN);
    check(intrinsic::mul_shift_right, {x, largest, unsigned_1}, INT32_MAX);
    check(intrinsic::rounding_mul_shift_right, {c(0) - x, largest, unsigned_1}, INT32_MIN);
    const Expr shifted = make_call(Int(32), intrinsic::shift_left, {x, c(31)}, CallKind::Intrinsic);
    CHECK(to_string(simplify(shifted < z - y)) == "shift_left(x, 31) < z - y");
}

TEST_CASE("the quotient of a sum of simplified terms is as simple as that of the expression",
          "[simplify]") {
    const Expr n = make_binary(Op::Min, y, x * c(32) + c(32));
    for (const Expr &sum : {x + y, x * c(16) + y * c(3) - c(5), x * c(32) + n - c(31), c(0) - n,
                            c(7), y / c(2) * c(2) + x})
        for (int divisor : {1, 2, 3, 16, 32}) {
            const Expr quotient = simplified_quotient(Linear::from_expr(simplify(sum)), divisor);
            CHECK(to_string(quotient) == to_string(simplify(sum / c(divisor))));
        }
    const Linear too_large{Int(32), int64_t{1} << 40, {{x, 1}}};
    CHECK_FALSE(simplified_quotient(too_large, 2).defined());
}
