#pragma once
// Expressions under construction: the Expr, its C++ text, and how large it can get. The last keeps
// the cases inside what the language defines and makes them exact:
//  * int32 never overflows;
//  * floats are whole multiples of 2^-frac below 2^(23 - frac), so that no operation on them rounds
//    and contraction to FMA cannot be seen. Values for which that does not hold are rough: they
//    carry a bound of the error that FMA and another math library can make, with which they are
//    compared, and nothing discrete (casts to integers, conditions) is made of them.

#include <string>

#include <pipe/pipe.h>

#include "fuzz/choices.h"

namespace Pipe::fuzz {

struct Value {
    Expr e;
    std::string text;
    double size = 0;  ///< upper bound of the absolute value
    int frac = 0;
    double error = 0;

    bool rough() const { return error > 0; }
    Type type() const { return e.type(); }
};

/// "u8", "f32": the names of ConciseCasts.
std::string short_name(Type type);
Value constant(Type type, int value);
Value fraction(int numerator, int log2_denominator);  ///< float32
/// To another type; what is too large for it is first made small enough.
Value convert(const Value &v, Type type, Choices &choices);
/// A value of the same type whose size is at most about a thousand and whose frac is 0.
Value shrink(const Value &v, Choices &choices);

/// Some operation of the type (both operands of one type).
Value combine(const Value &a, const Value &b, Choices &choices);
Value add(const Value &a, const Value &b, Choices &choices);
Value modify(const Value &a, Choices &choices, bool may_be_rough);
/// A bool of two values that are not rough.
Value condition(const Value &a, const Value &b, Choices &choices);
Value choose(const Value &condition, const Value &t, const Value &f);

}  // namespace Pipe::fuzz
