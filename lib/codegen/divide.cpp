// Division and remainder. LLVM converts division by a constant to multiplications and shifts; here
// the cheapest form for that is chosen, with the IR's rounding.

#include <llvm/IR/Constants.h>
#include <llvm/IR/Intrinsics.h>

#include "codegen/arith.h"

namespace Pipe::codegen {

using llvm::Value;

namespace {

/// The value of a constant divisor, alike in all lanes.
bool constant_divisor(Value *y, Type type, int64_t *value) {
    auto *c = llvm::dyn_cast<llvm::Constant>(y);
    if (!c)
        return false;
    if (c->getType()->isVectorTy())
        c = c->getSplatValue();
    auto *number = llvm::dyn_cast_or_null<llvm::ConstantInt>(c);
    if (!number)
        return false;
    *value = type.is_int() ? number->getSExtValue() : static_cast<int64_t>(number->getZExtValue());
    return true;
}

bool is_power_of_two(int64_t v) {
    return v > 0 && (v & (v - 1)) == 0;
}

int log2_exact(int64_t v) {
    return __builtin_ctzll(static_cast<uint64_t>(v));
}

/// floor(x / d) for a signed x and d > 1. With s = x >> 31, x ^ s is x or -x - 1, never negative,
/// and floor(x / d) = ((x ^ s) / d) ^ s: an unsigned division, which is cheaper than a signed one.
Value *floor_by_positive(Builder &b, Type type, Value *x, int64_t d, ir::ConstantInterval facts) {
    Value *divisor = constant(b, type, d);
    if (is_power_of_two(d))
        return b.CreateAShr(x, constant(b, type, log2_exact(d)));
    if (facts.lo >= 0)
        return b.CreateUDiv(x, divisor);
    Value *sign = b.CreateAShr(x, constant(b, type, type.bits() - 1));
    return b.CreateXor(b.CreateUDiv(b.CreateXor(x, sign), divisor), sign);
}

/// Vector instruction sets have no integer division. The quotient of two floats with more mantissa
/// bits than both integers have together never rounds across an integer: the gap below n is at
/// least 1 / (n * y) of it. float suffices for 8 and 16 bits, double for 32.
Value *quotient_by_float(Builder &b, Type type, Value *x, Value *y) {
    Type real = Float(type.bits() == 32 ? 64 : 32, type.lanes());
    Value *q = b.CreateFDiv(emit_cast(b, type, real, x), emit_cast(b, type, real, y));
    Type whole = type.bits() == 32 ? type : Int(32, type.lanes());
    return emit_cast(b, whole, type, emit_cast(b, real, whole, q));
}

/// x / y rounded toward zero, for y that is neither 0 nor (if signed) -1.
Value *truncating_quotient(Builder &b, Type type, Value *x, Value *y) {
    if (type.is_vector() && type.bits() <= 32)
        return quotient_by_float(b, type, x, y);
    return type.is_int() ? b.CreateSDiv(x, y) : b.CreateUDiv(x, y);
}

struct Quotient {
    Value *quotient, *remainder;
};

/// Both, for an unknown divisor. 0 and -1 are handled separately: 0 has a special definition, and
/// -1 would trap for the minimum integer.
Quotient divide_by_variable(Builder &b, Type type, Value *x, Value *y) {
    Value *zero = constant(b, type, 0), *one = constant(b, type, 1);
    Value *is_zero = b.CreateICmpEQ(y, zero);
    if (type.is_uint()) {
        Value *safe = b.CreateSelect(is_zero, one, y);
        Value *q = truncating_quotient(b, type, x, safe);
        Value *r = b.CreateSub(x, b.CreateMul(q, safe));
        return {b.CreateSelect(is_zero, zero, q), r};
    }
    Value *minus_one = constant(b, type, -1);
    Value *is_minus_one = b.CreateICmpEQ(y, minus_one);
    Value *safe = b.CreateSelect(b.CreateOr(is_zero, is_minus_one), one, y);
    Value *q = truncating_quotient(b, type, x, safe);
    Value *r = b.CreateSub(x, b.CreateMul(q, safe));
    // The remainder has the sign of x. Where it is negative, one step more toward -|y|.
    Value *negative = b.CreateICmpSLT(r, zero);
    Value *step = b.CreateSelect(b.CreateICmpSLT(safe, zero), minus_one, one);
    q = b.CreateSub(q, b.CreateSelect(negative, step, zero));
    r = b.CreateAdd(r, b.CreateSelect(negative, b.CreateMul(safe, step), zero));
    q = b.CreateSelect(is_minus_one, b.CreateNeg(x), b.CreateSelect(is_zero, zero, q));
    return {q, r};
}

}  // namespace

Value *emit_div(Builder &b, Type type, Value *x, Value *y, ir::ConstantInterval facts) {
    if (type.is_float())
        return b.CreateFDiv(x, y);
    if (type.is_bool())
        return b.CreateAnd(x, y);
    int64_t d = 0;
    if (!constant_divisor(y, type, &d))
        return divide_by_variable(b, type, x, y).quotient;
    if (d == 0)
        return constant(b, type, 0);
    if (type.is_uint())
        return b.CreateUDiv(x, y);
    if (d == 1)
        return x;
    if (d == -1)
        return b.CreateNeg(x);
    if (d == type.min_int())
        return divide_by_variable(b, type, x, y).quotient;
    // Euclid: x / -d = -(x / d).
    Value *q = floor_by_positive(b, type, x, d < 0 ? -d : d, facts);
    return d < 0 ? b.CreateNeg(q) : q;
}

Value *emit_mod(Builder &b, Type type, Value *x, Value *y, ir::ConstantInterval facts) {
    if (type.is_float()) {
        Value *floor = b.CreateUnaryIntrinsic(llvm::Intrinsic::floor, b.CreateFDiv(x, y));
        return b.CreateFSub(x, b.CreateFMul(y, floor));
    }
    if (type.is_bool())
        return constant(b, type, 0);
    int64_t d = 0;
    if (!constant_divisor(y, type, &d))
        return divide_by_variable(b, type, x, y).remainder;
    if (d == 0)
        return constant(b, type, 0);
    if (type.is_uint())
        return b.CreateURem(x, y);
    if (d == type.min_int())
        return divide_by_variable(b, type, x, y).remainder;
    if (d < 0)
        d = -d;
    if (d == 1)
        return constant(b, type, 0);
    if (is_power_of_two(d))
        return b.CreateAnd(x, constant(b, type, d - 1));
    Value *q = floor_by_positive(b, type, x, d, facts);
    return b.CreateSub(x, b.CreateMul(q, constant(b, type, d)));
}

}  // namespace Pipe::codegen
