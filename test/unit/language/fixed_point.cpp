// Integer operations against their definitions in exact arithmetic.
#include <bit>
#include <cmath>
#include <limits>
#include <tuple>

#include "integer_pairs.h"
#include "support/require_message.h"

using namespace Pipe;
using namespace integer_pairs;

namespace {

template <typename T> void check_same_width() {
    check_pairs<T, T>(
        "saturating_add", [](Expr a, Expr b) { return saturating_add(a, b); },
        [](T a, T b) { return clamped<T>(Wide{a} + b); });
    check_pairs<T, T>(
        "saturating_sub", [](Expr a, Expr b) { return saturating_sub(a, b); },
        [](T a, T b) { return clamped<T>(Wide{a} - b); });
    check_pairs<T, T>(
        "halving_add", [](Expr a, Expr b) { return halving_add(a, b); },
        [](T a, T b) { return static_cast<T>((Wide{a} + b) >> 1); });
    check_pairs<T, T>(
        "halving_sub", [](Expr a, Expr b) { return halving_sub(a, b); },
        [](T a, T b) { return static_cast<T>((Wide{a} - b) >> 1); });
    check_pairs<T, T>(
        "rounding_halving_add", [](Expr a, Expr b) { return rounding_halving_add(a, b); },
        [](T a, T b) { return static_cast<T>((Wide{a} + b + 1) >> 1); });
    using U = std::make_unsigned_t<T>;
    check_pairs<U, T>(
        "absd", [](Expr a, Expr b) { return absd(a, b); },
        [](T a, T b) { return static_cast<U>(a > b ? Wide{a} - b : Wide{b} - a); });
}

template <typename T> void check_divisions() {
    constexpr bool wraps = sizeof(T) < 4 || std::is_unsigned_v<T>;
    auto fits = [](T a, T b) {  // int32 and int64: the overflow is undefined
        return wraps || !(a == std::numeric_limits<T>::min() && b == static_cast<T>(-1));
    };
    auto divisor = [&](Expr a, Expr b) {
        Expr bad = a == Expr(std::numeric_limits<T>::min()) && b == cast<T>(Expr(-1));
        return wraps ? b : select(bad, cast<T>(Expr(1)), b);
    };
    check_pairs<T, T>(
        "div_round_to_zero", [&](Expr a, Expr b) { return div_round_to_zero(a, divisor(a, b)); },
        [&](T a, T b) {
            return b == 0 ? T{0} : static_cast<T>(fits(a, b) ? Wide{a} / b : Wide{a});
        });
    check_pairs<T, T>(
        "mod_round_to_zero", [&](Expr a, Expr b) { return mod_round_to_zero(a, divisor(a, b)); },
        [&](T a, T b) { return b == 0 ? T{0} : static_cast<T>(Wide{a} % b); });
}

template <typename T> void check_bit_counts() {
    using U = std::make_unsigned_t<T>;
    auto by_first = [](const char *name, auto op, auto expected) {
        check_pairs<T, T, uint16_t>(
            name, [=](Expr a, Expr) { return op(a); },
            [=](T a, uint16_t) { return static_cast<T>(expected(static_cast<U>(a))); });
    };
    by_first(
        "popcount", [](Expr a) { return popcount(a); }, [](U a) { return std::popcount(a); });
    by_first(
        "count_leading_zeros", [](Expr a) { return count_leading_zeros(a); },
        [](U a) { return std::countl_zero(a); });
    by_first(
        "count_trailing_zeros", [](Expr a) { return count_trailing_zeros(a); },
        [](U a) { return std::countr_zero(a); });
}

template <typename T, typename A> void check_rounding_shifts() {
    auto amount = [](A b) { return static_cast<int>(std::clamp<Wide>(b, -1000, 1000)); };
    check_pairs<T, T, A>(
        "rounding_shift_right", [](Expr a, Expr b) { return rounding_shift_right(a, b); },
        [&](T a, A b) { return clamped<T>(round_shift(a, amount(b))); });
    check_pairs<T, T, A>(
        "rounding_shift_left", [](Expr a, Expr b) { return rounding_shift_left(a, b); },
        [&](T a, A b) { return clamped<T>(round_shift(a, -amount(b))); });
}

template <typename T> void check_products() {
    const int bits = 8 * sizeof(T);
    for (int q : {0, 1, bits / 2, bits - 1, bits, bits + 1, std::min(2 * bits - 1, 120)}) {
        check_pairs<T, T>(
            "mul_shift_right", [=](Expr a, Expr b) { return mul_shift_right(a, b, q); },
            [=](T a, T b) { return clamped<T>(floor_shift(Wide{a} * b, q)); });
        check_pairs<T, T>(
            "rounding_mul_shift_right",
            [=](Expr a, Expr b) { return rounding_mul_shift_right(a, b, q); },
            [=](T a, T b) { return clamped<T>(round_shift(Wide{a} * b, q)); });
    }
}

}  // namespace

TEST_CASE("saturating and halving operations", "[fixed_point]") {
    check_same_width<uint8_t>();
    check_same_width<int8_t>();
    check_same_width<uint16_t>();
    check_same_width<int16_t>();
    check_same_width<uint32_t>();
    check_same_width<int32_t>();
    check_same_width<uint64_t>();
    check_same_width<int64_t>();
}

TEST_CASE("division as in C", "[fixed_point]") {
    check_divisions<uint8_t>();
    check_divisions<int8_t>();
    check_divisions<int16_t>();
    check_divisions<int32_t>();
    check_divisions<uint32_t>();
    check_divisions<int64_t>();
    check_divisions<uint64_t>();
}

TEST_CASE("counting bits", "[fixed_point]") {
    check_bit_counts<uint8_t>();
    check_bit_counts<int8_t>();
    check_bit_counts<uint16_t>();
    check_bit_counts<int32_t>();
    check_bit_counts<uint64_t>();
}

TEST_CASE("rounding shifts", "[fixed_point]") {
    check_rounding_shifts<uint8_t, uint8_t>();
    check_rounding_shifts<int8_t, int8_t>();
    check_rounding_shifts<uint8_t, int8_t>();
    check_rounding_shifts<int8_t, uint8_t>();
    check_rounding_shifts<int16_t, int16_t>();
    check_rounding_shifts<uint32_t, uint32_t>();
    for (int n : {-3, 0, 1, 7, 8, 9})
        check_pairs<uint8_t, uint8_t>(
            "rounding_shift_right by a constant",
            [=](Expr a, Expr) { return rounding_shift_right(a, n); },
            [=](uint8_t a, uint8_t) { return clamped<uint8_t>(round_shift(a, n)); });
}

TEST_CASE("shifted products", "[fixed_point]") {
    check_products<uint8_t>();
    check_products<int8_t>();
    check_products<uint16_t>();
    check_products<int16_t>();
    check_products<uint32_t>();
    check_products<int32_t>();
    check_products<int64_t>();
    check_pairs<int8_t, int8_t, uint8_t>(
        "mul_shift_right by a variable", [](Expr a, Expr q) { return mul_shift_right(a, a, q); },
        [](int8_t a, uint8_t q) { return clamped<int8_t>(floor_shift(Wide{a} * a, q)); });
    check_pairs<int8_t, int8_t, uint8_t>(
        "rounding_mul_shift_right by a variable",
        [](Expr a, Expr q) { return rounding_mul_shift_right(a, a, q); },
        [](int8_t a, uint8_t q) { return clamped<int8_t>(round_shift(Wide{a} * a, q)); });
}

TEST_CASE("products of uint64 shifted by all of their bits", "[fixed_point]") {
    Var x("x");
    const Expr most(UINT64_MAX);  // its square begins with 127 ones
    Buffer<uint64_t> in(1);
    in(0) = UINT64_MAX;
    for (auto [amount, plain, rounded] :
         {std::tuple(126, 3, 4), {127, 1, 2}, {128, 0, 1}, {129, 0, 0}, {200, 0, 0}}) {
        INFO("by " << amount);
        Func f("f");
        f(x) = mux(x, {mul_shift_right(most, most, amount), mul_shift_right(in(0), in(0), amount),
                       rounding_mul_shift_right(most, most, amount),
                       rounding_mul_shift_right(in(0), in(0), amount)});
        Buffer<uint64_t> got(4), reference(4);
        f.realize(got);
        f.realize_reference(Realization(reference));
        for (const Buffer<uint64_t> &b : {got, reference}) {
            CHECK(b(0) == static_cast<uint64_t>(plain));
            CHECK(b(1) == static_cast<uint64_t>(plain));
            CHECK(b(2) == static_cast<uint64_t>(rounded));
            CHECK(b(3) == static_cast<uint64_t>(rounded));
        }
    }
}

TEST_CASE("widening operations", "[fixed_point]") {
    check_pairs<uint16_t, uint8_t>(
        "widening_add", [](Expr a, Expr b) { return widening_add(a, b); },
        [](int a, int b) { return static_cast<uint16_t>(a + b); });
    check_pairs<int16_t, uint8_t>(
        "widening_sub", [](Expr a, Expr b) { return widening_sub(a, b); },
        [](int a, int b) { return static_cast<int16_t>(a - b); });
    check_pairs<int16_t, int8_t>(
        "widening_sub", [](Expr a, Expr b) { return widening_sub(a, b); },
        [](int a, int b) { return static_cast<int16_t>(a - b); });
    check_pairs<uint16_t, uint8_t>(
        "widening_mul", [](Expr a, Expr b) { return widening_mul(a, b); },
        [](int a, int b) { return static_cast<uint16_t>(a * b); });
    check_pairs<int16_t, int8_t, uint8_t>(
        "widening_mul of two signs", [](Expr a, Expr b) { return widening_mul(a, b); },
        [](int a, int b) { return static_cast<int16_t>(a * b); });
    check_pairs<uint16_t, uint16_t, uint8_t>(
        "widen_right_add", [](Expr a, Expr b) { return widen_right_add(a, b); },
        [](int a, int b) { return static_cast<uint16_t>(a + b); });
    check_pairs<uint16_t, uint16_t, uint8_t>(
        "widen_right_sub", [](Expr a, Expr b) { return widen_right_sub(a, b); },
        [](int a, int b) { return static_cast<uint16_t>(a - b); });
    check_pairs<uint16_t, uint16_t, uint8_t>(
        "widen_right_mul", [](Expr a, Expr b) { return widen_right_mul(a, b); },
        [](unsigned a, unsigned b) { return static_cast<uint16_t>(a * b); });
    check_pairs<int16_t, int8_t>(
        "widening_shift_left", [](Expr a, Expr) { return widening_shift_left(a, 7); },
        [](int a, int) { return static_cast<int16_t>(a * 128); });
    check_pairs<uint16_t, uint8_t>(
        "widening_shift_right", [](Expr a, Expr b) { return widening_shift_right(a, b % 16); },
        [](int a, int b) { return static_cast<uint16_t>(a >> b % 16); });
}

namespace {

/// Operations of Ts that give Ws, of twice as many bits.
template <typename T, typename W> void check_widening() {
    using Signed = std::make_signed_t<W>;
    check_pairs<W, T>(
        "widening_add", [](Expr a, Expr b) { return widening_add(a, b); },
        [](Wide a, Wide b) { return static_cast<W>(a + b); });
    check_pairs<Signed, T>(
        "widening_sub", [](Expr a, Expr b) { return widening_sub(a, b); },
        [](Wide a, Wide b) { return static_cast<Signed>(a - b); });
    check_pairs<W, T>(
        "widening_mul", [](Expr a, Expr b) { return widening_mul(a, b); },
        [](Wide a, Wide b) { return static_cast<W>(a * b); });
    check_pairs<W, T>(
        "widening_shift_left", [](Expr a, Expr b) { return widening_shift_left(a, b & 7); },
        [](Wide a, T b) { return static_cast<W>(a * (1 << (b & 7))); });
    check_pairs<W, T>(
        "widening_shift_right", [](Expr a, Expr b) { return widening_shift_right(a, b & 7); },
        [](Wide a, T b) { return static_cast<W>(a >> (b & 7)); });
    // Half of the left one's bits: signed results do not overflow.
    const int half = 8 * sizeof(T);
    check_pairs<W, W, T>(
        "widen_right_add", [=](Expr a, Expr b) { return widen_right_add(a >> half, b); },
        [=](Wide a, Wide b) { return static_cast<W>((a >> half) + b); });
    check_pairs<W, W, T>(
        "widen_right_sub", [=](Expr a, Expr b) { return widen_right_sub(a >> half, b); },
        [=](Wide a, Wide b) { return static_cast<W>((a >> half) - b); });
    check_pairs<W, W, T>(
        "widen_right_mul", [=](Expr a, Expr b) { return widen_right_mul(a >> half, b); },
        [=](Wide a, Wide b) { return static_cast<W>((a >> half) * b); });
}

}  // namespace

TEST_CASE("widening operations on operands of any width and sign", "[fixed_point]") {
    check_widening<uint8_t, uint16_t>();
    check_widening<int8_t, int16_t>();
    check_widening<uint16_t, uint32_t>();
    check_widening<int16_t, int32_t>();
    check_widening<uint32_t, uint64_t>();
    check_widening<int32_t, int64_t>();
}

TEST_CASE("casts that narrow keep the low bits", "[fixed_point]") {
    check_pairs<int32_t, int64_t>(
        "int32 of a sum of int64", [](Expr a, Expr b) { return cast<int>((a >> 1) + (b >> 1)); },
        [](int64_t a, int64_t b) { return static_cast<int32_t>((a >> 1) + (b >> 1)); });
    check_pairs<int16_t, int32_t>(
        "int16 of a sum of int32",
        [](Expr a, Expr b) { return cast<int16_t>((a >> 1) + (b >> 1)); },
        [](int32_t a, int32_t b) { return static_cast<int16_t>((a >> 1) + (b >> 1)); });
    check_pairs<uint8_t, int64_t>(
        "uint8 of a difference of int64",
        [](Expr a, Expr b) { return cast<uint8_t>((a >> 1) - (b >> 1)); },
        [](int64_t a, int64_t b) { return static_cast<uint8_t>((a >> 1) - (b >> 1)); });
}

TEST_CASE("casts by short names, at all sizes and places", "[fixed_point]") {
    using namespace ConciseCasts;
    Var x("x"), y("y");
    everywhere::check<int64_t>(
        [&] {
            Func f("f");
            Expr v = i64(x) * 1234567891 + y;
            Expr narrow = i64(i8(v)) + i64(i16(v)) * 3 + i64(i32(v));
            Expr unsigned_narrow = i64(u8(v)) * 5 + i64(u16(v)) + i64(u32(v)) + i64(u64(v));
            f(x, y) = narrow + unsigned_narrow + i64(f64(i32(v)) * 0.5) + i64(f32(i16(v)));
            return f;
        },
        [](int x, int y) {
            int64_t v = int64_t{x} * 1234567891 + y;
            auto low = static_cast<int32_t>(v);
            int64_t narrow = static_cast<int8_t>(v) + int64_t{static_cast<int16_t>(v)} * 3 + low;
            int64_t unsigned_narrow = static_cast<uint8_t>(v) * 5 + static_cast<uint16_t>(v) +
                                      static_cast<int64_t>(static_cast<uint32_t>(v)) + v;
            return narrow + unsigned_narrow + static_cast<int64_t>(low * 0.5) +
                   static_cast<int16_t>(v);
        });
}

TEST_CASE("saturating casts", "[fixed_point]") {
    using namespace ConciseCasts;
    check_pairs<uint8_t, int16_t>(
        "u8_sat", [](Expr a, Expr) { return u8_sat(a); },
        [](int16_t a, int16_t) { return clamped<uint8_t>(a); });
    check_pairs<int8_t, uint16_t>(
        "i8_sat", [](Expr a, Expr) { return i8_sat(a); },
        [](uint16_t a, uint16_t) { return clamped<int8_t>(a); });
    check_pairs<int16_t, int32_t>(
        "i16_sat", [](Expr a, Expr) { return i16_sat(a); },
        [](int32_t a, int32_t) { return clamped<int16_t>(a); });
    check_pairs<uint16_t, int32_t>(
        "u16_sat", [](Expr a, Expr) { return u16_sat(a); },
        [](int32_t a, int32_t) { return clamped<uint16_t>(a); });
    check_pairs<uint32_t, int64_t>(
        "u32_sat", [](Expr a, Expr) { return u32_sat(a); },
        [](int64_t a, int64_t) { return clamped<uint32_t>(a); });
    check_pairs<int32_t, uint64_t>(
        "i32_sat", [](Expr a, Expr) { return i32_sat(a); },
        [](uint64_t a, uint64_t) { return clamped<int32_t>(a); });
    check_pairs<uint64_t, int8_t>(
        "u64_sat", [](Expr a, Expr) { return u64_sat(a); },
        [](int8_t a, int8_t) { return clamped<uint64_t>(a); });
    check_pairs<int64_t, uint64_t>(
        "i64_sat", [](Expr a, Expr) { return i64_sat(a); },
        [](uint64_t a, uint64_t) { return clamped<int64_t>(a); });
    check_pairs<uint8_t, int16_t>(
        "of a float", [](Expr a, Expr) { return u8_sat(f32(a) * 1.5f); },
        [](int16_t a, int16_t) {
            float value = static_cast<float>(a) * 1.5f;
            return static_cast<uint8_t>(std::clamp(value, 0.0f, 255.0f));
        });
    check_pairs<int32_t, int32_t>(
        "of a large float", [](Expr a, Expr) { return i32_sat(f32(a) * 3.0f); },
        [](int32_t a, int32_t) {
            float value = static_cast<float>(a) * 3.0f;
            return value >= 0x1p31f    ? INT32_MAX
                   : value <= -0x1p31f ? INT32_MIN
                                       : static_cast<int32_t>(value);
        });
}

namespace {

template <typename T, typename D> void check_fast_divisions() {
    auto floor_div = [](Wide n, Wide d) -> Wide {
        return d == 0 ? 0 : n / d - (n % d != 0 && (n < 0) != (d < 0));
    };
    auto remainder = [](Wide n, Wide d) -> Wide {  // never negative
        Wide size = d < 0 ? -d : d;
        return d == 0 ? 0 : (n % size + size) % size;
    };
    auto apart = [](const Expr &d) { return select(d == 0, cast(d.type(), 1), d); };
    auto whole = [](Wide d) { return d == 0 ? Wide{1} : d; };
    check_pairs<T, T, D>(
        "fast_integer_divide",
        [&](const Expr &n, const Expr &d) { return fast_integer_divide(n, apart(d)); },
        [&](Wide n, Wide d) {  // with a remainder that is never negative
            Wide by = whole(d);
            return static_cast<T>(by < 0 ? -floor_div(n, -by) : floor_div(n, by));
        });
    check_pairs<T, T, D>(
        "fast_integer_divide_round_to_zero",
        [&](const Expr &n, const Expr &d) {
            return fast_integer_divide_round_to_zero(n, apart(d));
        },
        [&](Wide n, Wide d) { return static_cast<T>(n / whole(d)); });
    check_pairs<T, T, D>(
        "fast_integer_modulo",
        [&](const Expr &n, const Expr &d) { return fast_integer_modulo(n, apart(d)); },
        [&](Wide n, Wide d) { return static_cast<T>(remainder(n, whole(d))); });
}

}  // namespace

TEST_CASE("fast divisions by what the type of the numerator does not hold", "[fixed_point]") {
    check_fast_divisions<int8_t, uint8_t>();
    check_fast_divisions<int16_t, uint8_t>();
    check_fast_divisions<int8_t, uint16_t>();
    check_fast_divisions<uint8_t, uint16_t>();
    check_fast_divisions<uint8_t, int8_t>();
    check_fast_divisions<int32_t, uint32_t>();
    CHECK(evaluate<int8_t>(fast_integer_divide_round_to_zero(cast<int8_t>(-128),
                                                             cast<uint8_t>(Expr(128)))) == -1);
    Expr n = cast<int64_t>(Var("x")), d = cast<uint64_t>(Var("x"));
    require_message<CompileError>([&] { fast_integer_modulo(n, d); },
                                  {"fast_integer_modulo", "no integer type"});
}

TEST_CASE("extract_bits and concat_bits", "[fixed_point]") {
    check_pairs<uint8_t, uint32_t, uint8_t>(
        "extract_bits", [](Expr a, Expr b) { return extract_bits<uint8_t>(a, b % 40); },
        [](uint32_t a, uint8_t b) { return static_cast<uint8_t>(uint64_t{a} >> (b % 40)); });
    check_pairs<int16_t, int16_t, uint8_t>(
        "extract_bits", [](Expr a, Expr b) { return extract_bits<int16_t>(a, b % 16); },
        [](int16_t a, uint8_t b) {
            return static_cast<int16_t>(static_cast<uint16_t>(a) >> b % 16);
        });
    check_pairs<uint32_t, uint8_t>(
        "concat_bits",
        [](Expr a, Expr b) {
            return concat_bits({a, b, b, a});
        },
        [](uint32_t a, uint32_t b) { return a | b << 8 | b << 16 | a << 24; });
    check_pairs<int16_t, int8_t>(
        "concat_bits",
        [](Expr a, Expr b) {
            return concat_bits({a, b});
        },
        [](int8_t a, int8_t b) { return static_cast<int16_t>((a & 255) | b * 256); });
}

TEST_CASE("absd of bools says whether they differ", "[fixed_point]") {
    check_pairs<bool, uint8_t>(
        "absd", [](Expr a, Expr b) { return absd((a & 3) == 1, (b & 5) == 4); },
        [](int a, int b) { return ((a & 3) == 1) != ((b & 5) == 4); });
    check_pairs<uint8_t, uint8_t>(
        "absd of a bool and a number", [](Expr a, Expr b) { return absd((a & 3) == 1, b); },
        [](int a, int b) { return static_cast<uint8_t>(std::abs(int((a & 3) == 1) - b)); });
}

TEST_CASE("misuse of integer operations", "[fixed_point][error]") {
    Var x("x");
    Expr f = cast<float>(x), wide = cast<int64_t>(x), b = cast<uint8_t>(x);
    require_message<CompileError>([&] { saturating_add(f, f); }, {"saturating_add", "integers"});
    require_message<CompileError>([&] { widening_mul(wide, wide); },
                                  {"widening_mul", "twice as many bits", "int64"});
    require_message<CompileError>([&] { mul_shift_right(b, b, Expr(3)); },
                                  {"mul_shift_right", "unsigned"});
    require_message<CompileError>([&] { mul_shift_right(b, b, -1); }, {"mul_shift_right", "-1"});
    require_message<CompileError>([&] { popcount(x > 3); }, {"popcount", "integers"});
    require_message<CompileError>([&] { widen_right_add(b, b); }, {"twice the bits"});
    require_message<CompileError>([&] { concat_bits({b, b, b}); }, {"concat_bits", "3"});
    require_message<CompileError>([&] { lerp(b, b, 1.5f); }, {"lerp", "[0, 1]"});
    require_message<CompileError>([&] { lerp(b, f, 0.5f); }, {"lerp", "one type"});
    require_message<CompileError>([&] { lerp(b, b, Expr(x)); }, {"lerp", "unsigned or float"});
}
