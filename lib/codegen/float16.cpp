#include "codegen/float16.h"

#include <llvm/IR/Intrinsics.h>

#include "codegen/arith.h"

namespace Pipe::codegen {

using llvm::Value;

namespace {

bool is_small(Type type) {
    return type.is_float() && type.bits() == 16;
}

/// Floats as 32-bit integers, and operations on their bits. All values have the same shape.
class Bits {
  public:
    Bits(Builder &b, Type type)
        : b_(b), i16_(register_type(b.getContext(), UInt(16, type.lanes()))),
          i32_(register_type(b.getContext(), UInt(32, type.lanes()))),
          f32_(register_type(b.getContext(), Float(32, type.lanes()))) {}

    Value *number(uint32_t n) const { return llvm::ConstantInt::get(i32_, n); }
    Value *to_float(Value *bits) const { return b_.CreateBitCast(bits, f32_); }
    Value *of_float(Value *x) const { return b_.CreateBitCast(x, i32_); }
    Value *widen(Value *x) const { return b_.CreateZExt(x, i32_); }
    Value *narrow(Value *x) const { return b_.CreateTrunc(x, i16_); }
    Value *real(double x) const { return llvm::ConstantFP::get(f32_, x); }
    /// Conversions from and to LLVM's half, if the processor has instructions for them.
    llvm::Type *half() const {
        return i16_->getWithNewType(llvm::Type::getHalfTy(b_.getContext()));
    }
    llvm::Type *i16() const { return i16_; }
    llvm::Type *f32() const { return f32_; }

  private:
    Builder &b_;
    llvm::Type *i16_, *i32_, *f32_;
};

bool has_half(const Target &target) {
    return target.arch == Target::ARM || target.has_feature(Target::F16C);
}

Value *half_to_float(Builder &b, const Target &target, Type type, Value *x) {
    Bits bits(b, type);
    if (has_half(target))
        return b.CreateFPExt(b.CreateBitCast(x, bits.half()), bits.f32());
    Value *wide = bits.widen(x);
    Value *magnitude = b.CreateAnd(wide, bits.number(0x7fff));
    Value *sign = b.CreateShl(b.CreateAnd(wide, bits.number(0x8000)), bits.number(16));
    Value *placed = b.CreateShl(magnitude, bits.number(13));
    // The exponent is moved by a product, which is right for denormal numbers too.
    Value *scaled = bits.of_float(b.CreateFMul(bits.to_float(placed), bits.real(0x1p112)));
    Value *special = b.CreateOr(placed, bits.number(0x7f800000));
    Value *is_special = b.CreateICmpUGE(magnitude, bits.number(0x7c00));
    return bits.to_float(b.CreateOr(sign, b.CreateSelect(is_special, special, scaled)));
}

/// `x` shifted right by `n` bits, rounded to nearest, halves to even.
Value *rounded_bits(Builder &b, const Bits &bits, Value *x, uint32_t n) {
    Value *odd = b.CreateAnd(b.CreateLShr(x, bits.number(n)), bits.number(1));
    Value *bias = b.CreateAdd(odd, bits.number((1u << (n - 1)) - 1));
    return b.CreateLShr(b.CreateAdd(x, bias), bits.number(n));
}

Value *float_to_half(Builder &b, const Target &target, Type type, Value *x) {
    Bits bits(b, type);
    if (has_half(target))
        return b.CreateBitCast(b.CreateFPTrunc(x, bits.half()), bits.i16());
    Value *all = bits.of_float(x);
    Value *sign = b.CreateLShr(b.CreateAnd(all, bits.number(0x80000000)), bits.number(16));
    Value *magnitude = b.CreateAnd(all, bits.number(0x7fffffff));
    Value *rebased = b.CreateSub(magnitude, bits.number(112u << 23));
    Value *normal = b.CreateBinaryIntrinsic(
        llvm::Intrinsic::umin, rounded_bits(b, bits, rebased, 13), bits.number(0x7c00));
    // Next to 0.5, a float's last place is the half's smallest number: adding rounds to it.
    Value *added = bits.of_float(b.CreateFAdd(bits.to_float(magnitude), bits.real(0.5)));
    Value *denormal = b.CreateSub(added, bits.number(0x3f000000));
    Value *is_small = b.CreateICmpULT(magnitude, bits.number(113u << 23));
    Value *nan =
        b.CreateOr(b.CreateAnd(b.CreateLShr(magnitude, bits.number(13)), bits.number(0x3ff)),
                   bits.number(0x7e00));
    Value *is_nan = b.CreateICmpUGT(magnitude, bits.number(0x7f800000));
    Value *result = b.CreateSelect(is_nan, nan, b.CreateSelect(is_small, denormal, normal));
    return bits.narrow(b.CreateOr(sign, result));
}

Value *bfloat_to_float(Builder &b, Type type, Value *x) {
    Bits bits(b, type);
    return bits.to_float(b.CreateShl(bits.widen(x), bits.number(16)));
}

Value *float_to_bfloat(Builder &b, Type type, Value *x) {
    Bits bits(b, type);
    Value *all = bits.of_float(x);
    Value *nan = b.CreateOr(b.CreateLShr(all, bits.number(16)), bits.number(0x40));
    Value *is_nan = b.CreateFCmpUNO(x, x);
    return bits.narrow(b.CreateSelect(is_nan, nan, rounded_bits(b, bits, all, 16)));
}

Value *to_float(Builder &b, const Target &target, Type from, Value *x) {
    return from.is_bfloat() ? bfloat_to_float(b, from, x) : half_to_float(b, target, from, x);
}

/// A double as a float that rounds to 16 bits as the double would (round to odd).
Value *double_to_odd_float(Builder &b, Type type, Value *x) {
    Bits bits(b, type);
    Value *nearest = b.CreateFPTrunc(x, bits.f32());
    Value *back = b.CreateFPExt(nearest, x->getType());
    Value *pattern = bits.of_float(nearest);
    Value *exact = b.CreateFCmpUEQ(back, x);  // or NaN
    Value *odd = b.CreateICmpNE(b.CreateAnd(pattern, bits.number(1)), bits.number(0));
    Value *too_large = b.CreateFCmpOGT(b.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, back),
                                       b.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, x));
    Value *other = b.CreateSelect(too_large, b.CreateSub(pattern, bits.number(1)),
                                  b.CreateAdd(pattern, bits.number(1)));
    return bits.to_float(b.CreateSelect(b.CreateOr(exact, odd), pattern, other));
}

/// An int64 with at most 53 significant bits that rounds as the original would: lost bits make the
/// last bit odd.
Value *shortened(Builder &b, Type type, Value *x) {
    Value *lost = b.CreateAnd(x, constant(b, type, 0x7ff));
    Value *sticky = b.CreateZExt(b.CreateICmpNE(lost, constant(b, type, 0)), x->getType());
    Value *kept = b.CreateAnd(x, constant(b, type, ~int64_t{0x7ff}));
    return b.CreateOr(kept, b.CreateShl(sticky, constant(b, type, 11)));
}

/// A float that rounds to 16 bits as x does.
Value *to_roundable_float(Builder &b, Type from, Value *x) {
    Type single = Float(32, from.lanes()), twice = Float(64, from.lanes());
    if (from == single)
        return x;
    if (from.is_int_or_uint() && from.bits() <= 16)
        return emit_cast(b, from, single, x);
    if (from.is_int_or_uint()) {
        // Below 2^53 an int64 is a double; the bits that `shortened` takes matter only above.
        Value *exact = emit_cast(b, from, twice, x);
        if (from.bits() == 64) {
            Value *large = emit_cast(b, from, twice, shortened(b, from, x));
            Value *limit = llvm::ConstantFP::get(exact->getType(), 0x1p53);
            Value *size = b.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, exact);
            exact = b.CreateSelect(b.CreateFCmpOLT(size, limit), exact, large);
        }
        x = exact;
    }
    return double_to_odd_float(b, from, x);
}

}  // namespace

int64_t float16_bits(Type type, double value) {
    return type.is_bfloat() ? bfloat16_t(value).to_bits() : float16_t(value).to_bits();
}

Value *emit_any_cast(Builder &b, const Target &target, Type from, Type to, Value *x) {
    if (from == to)
        return x;
    Type single = Float(32, from.lanes());
    if (is_small(from))
        return emit_any_cast(b, target, single, to, to_float(b, target, from, x));
    if (!is_small(to))
        return emit_cast(b, from, to, x);
    Value *rounded = to_roundable_float(b, from, x);
    return to.is_bfloat() ? float_to_bfloat(b, to, rounded) : float_to_half(b, target, to, rounded);
}

}  // namespace Pipe::codegen
