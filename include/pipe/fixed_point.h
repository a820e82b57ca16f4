#pragma once
// Integer operations that processors have and C++ lacks: saturating, widening, halving, rounding.
//
// Operands of different types are converted to a common type as for `+` (<pipe/operators.h>),
// unless stated otherwise. `widen` and `narrow` below are casts to twice and to half the bits;
// CompileError if no type has twice the bits, or if an operand is not an integer. Intermediate
// results never overflow.

#include <pipe/operators.h>

namespace Pipe {

/// a + b and a - b, clamped to the range of the type.
Expr saturating_add(const Expr &a, const Expr &b);
Expr saturating_sub(const Expr &a, const Expr &b);

/// widen(a) + widen(b)
Expr widening_add(const Expr &a, const Expr &b);
/// widen(a) - widen(b), signed.
Expr widening_sub(const Expr &a, const Expr &b);
/// widen(a) * widen(b). If one of them is signed, the result is signed.
Expr widening_mul(const Expr &a, const Expr &b);
/// a + widen(b), a - widen(b), a * widen(b), where a has twice the bits of b.
Expr widen_right_add(const Expr &a, const Expr &b);
Expr widen_right_sub(const Expr &a, const Expr &b);
Expr widen_right_mul(const Expr &a, const Expr &b);
/// widen(a) << amount, widen(a) >> amount
Expr widening_shift_left(const Expr &a, const Expr &amount);
Expr widening_shift_right(const Expr &a, const Expr &amount);

/// (a + b) / 2 and (a - b) / 2, rounded down.
Expr halving_add(const Expr &a, const Expr &b);
Expr halving_sub(const Expr &a, const Expr &b);
/// (a + b + 1) / 2, rounded down.
Expr rounding_halving_add(const Expr &a, const Expr &b);

/// a * 2^amount and a / 2^amount, rounded to nearest with halves up, clamped to the type of a. A
/// negative amount shifts the other way.
Expr rounding_shift_left(const Expr &a, const Expr &amount);
Expr rounding_shift_right(const Expr &a, const Expr &amount);

/// widen(a) * widen(b) / 2^amount, rounded down, and to nearest with halves up; clamped to the
/// type. The amount is unsigned.
Expr mul_shift_right(const Expr &a, const Expr &b, const Expr &amount);
Expr rounding_mul_shift_right(const Expr &a, const Expr &b, const Expr &amount);

// With a literal amount.
Expr widening_shift_left(const Expr &a, int amount);
Expr widening_shift_right(const Expr &a, int amount);
Expr rounding_shift_left(const Expr &a, int amount);
Expr rounding_shift_right(const Expr &a, int amount);
Expr mul_shift_right(const Expr &a, const Expr &b, int amount);
Expr rounding_mul_shift_right(const Expr &a, const Expr &b, int amount);

/// The number of bits that are set; the number of zero bits above the highest and below the lowest
/// bit that is set (of 0: all bits). The result has the type of x.
Expr popcount(const Expr &x);
Expr count_leading_zeros(const Expr &x);
Expr count_trailing_zeros(const Expr &x);

/// Division as in C: rounded toward zero, the remainder with the sign of x. Division by zero gives
/// 0. The smallest value of a type divided by -1 wraps (int32, int64: undefined).
Expr div_round_to_zero(const Expr &x, const Expr &y);
Expr mod_round_to_zero(const Expr &x, const Expr &y);

/// The exact quotient (rounded down, or toward zero) and remainder of integers of any two types,
/// cast to the type of the numerator. Divisions by loop invariants are optimized in any case.
/// CompileError if no type holds both operands: a 64-bit unsigned and a signed one.
Expr fast_integer_divide(const Expr &numerator, const Expr &denominator);
Expr fast_integer_divide_round_to_zero(const Expr &numerator, const Expr &denominator);
Expr fast_integer_modulo(const Expr &numerator, const Expr &denominator);

/// The bits of `e` from bit `lsb` up, as many as `type` has; bits beyond those of `e` are zero.
Expr extract_bits(Type type, const Expr &e, const Expr &lsb);
template <typename T> Expr extract_bits(const Expr &e, const Expr &lsb) {
    return extract_bits(type_of<T>(), e, lsb);
}
/// An integer made of the bits of all values, the first value in the lowest bits. Takes 2, 4 or 8
/// values of one type.
Expr concat_bits(const std::vector<Expr> &values);

}  // namespace Pipe
