#include "codegen/integer_ops.h"

#include <algorithm>

#include <llvm/ADT/APInt.h>
#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/IntrinsicsX86.h>

#include "codegen/arith.h"
#include "ir/intrinsics.h"

namespace Pipe::codegen {

using llvm::Value;

namespace {

/// Arithmetic on integers of any number of bits, LLVM's own included (a product of two int64 has
/// 128).
class Integers {
  public:
    Integers(Builder &b, llvm::Type *type, bool is_signed)
        : b_(b), type_(type), is_signed_(is_signed), bits_(type->getScalarSizeInBits()) {}

    unsigned bits() const { return bits_; }
    bool is_signed() const { return is_signed_; }
    Value *number(uint64_t n) const { return llvm::ConstantInt::get(type_, n); }
    Value *least() const {
        return limit(is_signed_ ? llvm::APInt::getSignedMinValue(bits_) : llvm::APInt(bits_, 0));
    }
    Value *most() const {
        return limit(is_signed_ ? llvm::APInt::getSignedMaxValue(bits_)
                                : llvm::APInt::getMaxValue(bits_));
    }
    Value *call(llvm::Intrinsic::ID of_signed, llvm::Intrinsic::ID of_unsigned, Value *x,
                Value *y) const {
        return b_.CreateBinaryIntrinsic(is_signed_ ? of_signed : of_unsigned, x, y);
    }
    Value *shift_right(Value *x, Value *amount) const {
        return is_signed_ ? b_.CreateAShr(x, amount) : b_.CreateLShr(x, amount);
    }
    /// The same for any amount; all bits shifted out leave 0, or -1.
    Value *shift_out(Value *x, Value *amount) const {
        Value *in_range = b_.CreateICmpULT(amount, number(bits_));
        Value *safe = b_.CreateSelect(in_range, amount, number(bits_ - 1));
        Value *shifted = shift_right(x, safe);
        return is_signed_ ? shifted : b_.CreateSelect(in_range, shifted, number(0));
    }
    /// x / 2^amount to nearest, for an unsigned amount: twice the result first, then its half, so
    /// that nothing overflows.
    Value *rounding_shift_right(Value *x, Value *amount) const {
        Value *doubled = shift_out(x, b_.CreateSub(amount, number(1)));
        Value *half = shift_right(doubled, number(1));
        Value *rounded = b_.CreateAdd(half, b_.CreateAnd(doubled, number(1)));
        return b_.CreateSelect(b_.CreateICmpEQ(amount, number(0)), x, rounded);
    }
    /// x * 2^amount, clamped, for an unsigned amount.
    Value *saturating_shift_left(Value *x, Value *amount) const {
        Value *in_range = b_.CreateICmpULT(amount, number(bits_));
        Value *safe = b_.CreateSelect(in_range, amount, number(0));
        Value *shifted = call(llvm::Intrinsic::sshl_sat, llvm::Intrinsic::ushl_sat, x, safe);
        Value *limit = most();
        if (is_signed_)
            limit = b_.CreateSelect(b_.CreateICmpSLT(x, number(0)), least(), limit);
        limit = b_.CreateSelect(b_.CreateICmpEQ(x, number(0)), x, limit);
        return b_.CreateSelect(in_range, shifted, limit);
    }
    Value *extend(Value *x, llvm::Type *from_narrow_to) const {
        return is_signed_ ? b_.CreateSExt(x, from_narrow_to) : b_.CreateZExt(x, from_narrow_to);
    }

  private:
    Value *limit(const llvm::APInt &value) const { return llvm::ConstantInt::get(type_, value); }

    Builder &b_;
    llvm::Type *type_;
    bool is_signed_;
    unsigned bits_;
};

llvm::Type *twice_as_wide(const Value *x) {
    return x->getType()->getWithNewBitWidth(2 * x->getType()->getScalarSizeInBits());
}

/// The amount of all lanes, where it is a constant.
std::optional<uint64_t> constant_amount(Value *amount) {
    auto *c = llvm::dyn_cast<llvm::Constant>(amount);
    if (c && c->getType()->isVectorTy())
        c = c->getSplatValue();
    auto *n = llvm::dyn_cast_or_null<llvm::ConstantInt>(c);
    if (!n || n->getValue().getActiveBits() > 32)
        return std::nullopt;
    return n->getZExtValue();
}

/// An amount that may be negative shifts the other way.
Value *rounding_shift(Builder &b, Type type, Value *x, Type amount_type, Value *amount, bool left) {
    Integers n(b, x->getType(), type.is_int());
    auto shift = [&](bool to_left, Value *by) {
        return to_left ? n.saturating_shift_left(x, by) : n.rounding_shift_right(x, by);
    };
    if (amount_type.is_uint())
        return shift(left, amount);
    Value *other_way = shift(!left, b.CreateNeg(amount));
    return b.CreateSelect(b.CreateICmpSLT(amount, n.number(0)), other_way, shift(left, amount));
}

/// (x * y) >> amount where the product is twice as wide.
Value *shifted_product(Builder &b, Type type, Value *x, Value *y, Value *amount, bool rounded) {
    llvm::Type *narrow = x->getType(), *wide = twice_as_wide(x);
    Integers n(b, narrow, type.is_int()), w(b, wide, type.is_int());
    Value *product = b.CreateMul(n.extend(x, wide), n.extend(y, wide));
    std::optional<uint64_t> known = constant_amount(amount);
    unsigned bits = n.bits();
    if (rounded && known && *known > 0 && *known < 2 * bits) {
        // The product leaves room for the 1.
        Value *doubled = w.shift_right(product, w.number(*known - 1));
        product = w.shift_right(b.CreateAdd(doubled, w.number(1)), w.number(1));
    } else {
        Value *by = b.CreateZExt(amount, wide);
        product = rounded ? w.rounding_shift_right(product, by) : w.shift_out(product, by);
    }
    Value *low = b.CreateTrunc(product, narrow);
    if (known && *known >= bits)
        return low;                                    // it fits
    if (known && n.is_signed() && *known == bits - 1)  // only least * least does not
        return b.CreateSelect(
            b.CreateAnd(b.CreateICmpEQ(x, n.least()), b.CreateICmpEQ(y, n.least())), n.most(), low);
    Value *fits =
        w.call(llvm::Intrinsic::smin, llvm::Intrinsic::umin, product, n.extend(n.most(), wide));
    if (n.is_signed())
        fits = b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, fits, n.extend(n.least(), wide));
    return b.CreateTrunc(fits, narrow);
}

/// (x * y + 2^14) >> 15 of int16, by pmulhrsw; null where the target has it not. It wraps for the
/// product of the two least numbers alone, to the least, which no other product gives.
Value *emit_pmulhrsw(Builder &b, const Target &target, Type type, Value *x, Value *y) {
    if (type.element_of() != Int(16) || type.is_scalar() || !target.has_feature(Target::SSE41))
        return nullptr;
    int piece = 8;
    auto id = llvm::Intrinsic::x86_ssse3_pmul_hr_sw_128;
    if (type.lanes() > 8 && target.has_feature(Target::AVX2))
        piece = 16, id = llvm::Intrinsic::x86_avx2_pmul_hr_sw;
    if (type.lanes() > 16 && target.has_feature(Target::AVX512_Skylake))
        piece = 32, id = llvm::Intrinsic::x86_avx512_pmul_hr_sw_512;
    std::vector<Value *> pieces;
    for (int done = 0; done < type.lanes(); done += piece) {
        Value *product =
            b.CreateIntrinsic(id, {}, {slice(b, x, done, piece), slice(b, y, done, piece)});
        pieces.push_back(slice(b, product, 0, std::min(piece, type.lanes() - done)));
    }
    Value *result = concat(b, pieces);
    Integers n(b, x->getType(), true);
    return b.CreateXor(result, b.CreateSExt(b.CreateICmpEQ(result, n.least()), x->getType()));
}

/// As in C, but the cases that trap there give 0 and wrap.
Value *div_or_mod(Builder &b, Type type, Value *x, Value *y, bool div) {
    Integers n(b, x->getType(), type.is_int());
    Value *zero = n.number(0), *traps = b.CreateICmpEQ(y, zero);
    Value *by_zero = traps;
    if (n.is_signed()) {
        Value *minus_one = llvm::Constant::getAllOnesValue(x->getType());
        Value *overflows = b.CreateAnd(b.CreateICmpEQ(x, n.least()), b.CreateICmpEQ(y, minus_one));
        traps = b.CreateOr(traps, overflows);
    }
    Value *safe = b.CreateSelect(traps, n.number(1), y);
    Value *result = nullptr;
    if (div)
        result = n.is_signed() ? b.CreateSDiv(x, safe) : b.CreateUDiv(x, safe);
    else
        result = n.is_signed() ? b.CreateSRem(x, safe) : b.CreateURem(x, safe);
    return b.CreateSelect(by_zero, zero, result);
}

/// (zero * (whole - w) + one * w) / whole, rounded, where whole = 2^n - 1: a division by shifts.
Value *lerp(Builder &b, Type type, Value *zero, Value *one, Value *weight) {
    llvm::Type *narrow = zero->getType(), *wide = twice_as_wide(zero);
    Integers n(b, narrow, false);
    Value *sign = type.is_int() ? Integers(b, narrow, true).least() : n.number(0);
    auto widened = [&](Value *v) { return b.CreateZExt(v, wide); };
    Value *rest = b.CreateNot(weight);
    Value *sum = b.CreateAdd(b.CreateMul(widened(b.CreateXor(zero, sign)), widened(rest)),
                             b.CreateMul(widened(b.CreateXor(one, sign)), widened(weight)));
    llvm::APInt half_bit = llvm::APInt::getOneBitSet(2 * n.bits(), n.bits() - 1);
    Value *half = llvm::ConstantInt::get(wide, half_bit);
    Value *bits = llvm::ConstantInt::get(wide, n.bits());
    Value *rounded = b.CreateAdd(sum, half);
    Value *quotient = b.CreateLShr(b.CreateAdd(rounded, b.CreateLShr(rounded, bits)), bits);
    return b.CreateXor(b.CreateTrunc(quotient, narrow), sign);
}

/// (x + y) / 2 and (x + y + 1) / 2 without the bit more that the sum has.
Value *average(Builder &b, const Integers &n, Value *x, Value *y, bool up) {
    Value *half = n.shift_right(b.CreateXor(x, y), n.number(1));
    return up ? b.CreateSub(b.CreateOr(x, y), half) : b.CreateAdd(b.CreateAnd(x, y), half);
}

Value *halving_sub(Builder &b, const Integers &n, Value *x, Value *y) {
    Value *one = n.number(1);
    Value *borrow = b.CreateAnd(b.CreateAnd(b.CreateNot(x), y), one);
    return b.CreateSub(b.CreateSub(n.shift_right(x, one), n.shift_right(y, one)), borrow);
}

}  // namespace

Value *emit_integer_op(Builder &b, const Target &target, const std::string &name,
                       const std::vector<Type> &types, const std::vector<Value *> &args) {
    namespace in = ir::intrinsic;
    Type type = types[0];
    if (!type.is_int_or_uint())
        return nullptr;
    Value *x = args[0];
    if (name == in::popcount)
        return b.CreateUnaryIntrinsic(llvm::Intrinsic::ctpop, x);
    if (name == in::count_leading_zeros)
        return b.CreateBinaryIntrinsic(llvm::Intrinsic::ctlz, x, b.getFalse());
    if (name == in::count_trailing_zeros)
        return b.CreateBinaryIntrinsic(llvm::Intrinsic::cttz, x, b.getFalse());
    if (args.size() < 2)
        return nullptr;
    Value *y = args[1];
    Integers n(b, x->getType(), type.is_int());
    if (name == in::saturating_add)
        return n.call(llvm::Intrinsic::sadd_sat, llvm::Intrinsic::uadd_sat, x, y);
    if (name == in::saturating_sub)
        return n.call(llvm::Intrinsic::ssub_sat, llvm::Intrinsic::usub_sat, x, y);
    if (name == in::halving_add)
        return average(b, n, x, y, false);
    if (name == in::rounding_halving_add)
        return average(b, n, x, y, true);
    if (name == in::halving_sub)
        return halving_sub(b, n, x, y);
    if (name == in::rounding_shift_left || name == in::rounding_shift_right)
        return rounding_shift(b, type, x, types[1], y, name == in::rounding_shift_left);
    if (name == in::div_round_to_zero || name == in::mod_round_to_zero)
        return div_or_mod(b, type, x, y, name == in::div_round_to_zero);
    if (args.size() < 3)
        return nullptr;
    if (name == in::mul_shift_right)
        return shifted_product(b, type, x, y, args[2], false);
    if (name == in::rounding_mul_shift_right) {
        bool by_15 = constant_amount(args[2]) == uint64_t{15};
        Value *done = by_15 ? emit_pmulhrsw(b, target, type, x, y) : nullptr;
        return done ? done : shifted_product(b, type, x, y, args[2], true);
    }
    if (name == in::lerp)
        return lerp(b, type, x, y, args[2]);
    return nullptr;
}

}  // namespace Pipe::codegen
