#include "codegen/arith.h"

#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/PatternMatch.h>

namespace Pipe::codegen {

using ir::Op;
using llvm::Value;

namespace {

/// The product that may be contracted with the sum that uses it; else null. (Sums that LLVM may
/// reassociate must be left unchanged: it contracts them afterward.)
llvm::Instruction *fusible_product(Builder &b, Value *v) {
    auto *product = llvm::dyn_cast<llvm::Instruction>(v);
    bool fusible = product && product->getOpcode() == llvm::Instruction::FMul &&
                   product->hasAllowContract() && b.getFastMathFlags().allowContract() &&
                   !b.getFastMathFlags().allowReassoc();
    return fusible ? product : nullptr;
}

Value *multiply_add(Builder &b, Value *x, Value *y, Value *z) {
    return b.CreateIntrinsic(llvm::Intrinsic::fmuladd, {z->getType()}, {x, y, z});
}

}  // namespace

// Multiply-adds are selected here and not by LLVM, which contracts only products with a single use:
// unrolled rows that share a product would then add it separately, with more instructions and with
// other results than the same rows in a loop.
//
// Overflow of int32 and int64 is undefined in the user's program. LLVM is not told (no nsw),
// because sums are emitted in a different order, in which a partial sum may overflow although the
// total does not.
Value *emit_add(Builder &b, Type type, Value *x, Value *y) {
    if (!type.is_float())
        return b.CreateAdd(x, y);
    if (auto *p = fusible_product(b, y))
        return multiply_add(b, p->getOperand(0), p->getOperand(1), x);
    if (auto *p = fusible_product(b, x))
        return multiply_add(b, p->getOperand(0), p->getOperand(1), y);
    return b.CreateFAdd(x, y);
}

Value *emit_sub(Builder &b, Type type, Value *x, Value *y) {
    if (type.is_float()) {
        if (auto *p = fusible_product(b, y))
            return multiply_add(b, b.CreateFNeg(p->getOperand(0)), p->getOperand(1), x);
        if (auto *p = fusible_product(b, x))
            return multiply_add(b, p->getOperand(0), p->getOperand(1), b.CreateFNeg(y));
        return b.CreateFSub(x, y);
    }
    return b.CreateSub(x, y);
}

Value *emit_mul(Builder &b, Type type, Value *x, Value *y) {
    return type.is_float() ? b.CreateFMul(x, y) : b.CreateMul(x, y);
}

Value *emit_min(Builder &b, Type type, Value *x, Value *y) {
    // In this shape the comparison and the select are one minps.
    if (type.is_float())
        return b.CreateSelect(b.CreateFCmpOLT(x, y), x, y);
    auto id = type.is_int() ? llvm::Intrinsic::smin : llvm::Intrinsic::umin;
    return b.CreateBinaryIntrinsic(id, x, y);
}

Value *emit_max(Builder &b, Type type, Value *x, Value *y) {
    if (type.is_float())
        return b.CreateSelect(b.CreateFCmpOGT(x, y), x, y);
    auto id = type.is_int() ? llvm::Intrinsic::smax : llvm::Intrinsic::umax;
    return b.CreateBinaryIntrinsic(id, x, y);
}

Value *emit_compare(Builder &b, Op op, Type type, Value *x, Value *y) {
    using P = llvm::CmpInst::Predicate;
    bool is_signed = type.is_int();
    if (type.is_float()) {
        switch (op) {
        case Op::EQ:
            return b.CreateFCmp(P::FCMP_OEQ, x, y);
        case Op::NE:
            return b.CreateFCmp(P::FCMP_UNE, x, y);
        case Op::LT:
            return b.CreateFCmp(P::FCMP_OLT, x, y);
        case Op::LE:
            return b.CreateFCmp(P::FCMP_OLE, x, y);
        case Op::GT:
            return b.CreateFCmp(P::FCMP_OGT, x, y);
        default:
            return b.CreateFCmp(P::FCMP_OGE, x, y);
        }
    }
    switch (op) {
    case Op::EQ:
        return b.CreateICmp(P::ICMP_EQ, x, y);
    case Op::NE:
        return b.CreateICmp(P::ICMP_NE, x, y);
    case Op::LT:
        return b.CreateICmp(is_signed ? P::ICMP_SLT : P::ICMP_ULT, x, y);
    case Op::LE:
        return b.CreateICmp(is_signed ? P::ICMP_SLE : P::ICMP_ULE, x, y);
    case Op::GT:
        return b.CreateICmp(is_signed ? P::ICMP_SGT : P::ICMP_UGT, x, y);
    default:
        return b.CreateICmp(is_signed ? P::ICMP_SGE : P::ICMP_UGE, x, y);
    }
}

Value *emit_cast(Builder &b, Type from, Type to, Value *x) {
    if (from == to)
        return x;
    llvm::Type *t = register_type(b.getContext(), to);
    if (from.is_handle() || to.is_handle())
        return b.CreateBitOrPointerCast(x, t);
    if (to.is_bool()) {
        Value *zero = constant(b, from, 0);
        return from.is_float() ? b.CreateFCmpUNE(x, zero) : b.CreateICmpNE(x, zero);
    }
    if (from.is_float() && to.is_float())
        return b.CreateFPCast(x, t);
    if (from.is_float()) {
        // There are instructions to int32; the narrow types are reached through it.
        if (to.bits() < 32) {
            return b.CreateTrunc(
                b.CreateFPToSI(x, register_type(b.getContext(), Int(32, to.lanes()))), t);
        }
        return to.is_int() ? b.CreateFPToSI(x, t) : b.CreateFPToUI(x, t);
    }
    if (to.is_float()) {
        if (from.is_uint() && from.bits() < 32) {
            x = b.CreateZExt(x, register_type(b.getContext(), Int(32, to.lanes())));
            return b.CreateSIToFP(x, t);
        }
        return from.is_int() ? b.CreateSIToFP(x, t) : b.CreateUIToFP(x, t);
    }
    return b.CreateIntCast(x, t, from.is_int());
}

Value *emit_abs(Builder &b, Type type, Value *x) {
    if (type.is_float())
        return b.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, x);
    if (type.is_uint())
        return x;
    return b.CreateBinaryIntrinsic(llvm::Intrinsic::abs, x, b.getFalse());
}

Value *emit_absd(Builder &b, Type type, Value *x, Value *y) {
    if (type.is_float())
        return b.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, b.CreateFSub(x, y));
    return b.CreateSub(emit_max(b, type, x, y), emit_min(b, type, x, y));
}

Value *emit_shift(Builder &b, Type type, Value *x, Type amount_type, Value *amount, bool left) {
    if (amount_type.bits() > type.bits()) {  // must not wrap when it is narrowed
        amount = emit_min(b, amount_type, amount, constant(b, amount_type, type.bits()));
        if (amount_type.is_int()) {
            amount = emit_max(b, amount_type, amount, constant(b, amount_type, -type.bits()));
        }
    }
    amount = emit_cast(b, amount_type, type.with_code(amount_type.code()), amount);
    Value *bits = constant(b, type, type.bits()), *zero = constant(b, type, 0);
    auto shift = [&](bool to_left, Value *by) -> Value * {
        Value *in_range = b.CreateICmpULT(by, bits);
        if (!to_left && type.is_int()) {
            return b.CreateAShr(x,
                                b.CreateSelect(in_range, by, constant(b, type, type.bits() - 1)));
        }
        // The amount is made harmless first: a shift by too much is poison.
        Value *safe = b.CreateSelect(in_range, by, zero);
        Value *shifted = to_left ? b.CreateShl(x, safe) : b.CreateLShr(x, safe);
        return b.CreateSelect(in_range, shifted, zero);
    };
    if (amount_type.is_uint())
        return shift(left, amount);
    if (llvm::isa<llvm::Constant>(amount)) {
        bool all_positive = llvm::PatternMatch::match(amount, llvm::PatternMatch::m_NonNegative());
        if (all_positive)
            return shift(left, amount);
    }
    Value *negative = b.CreateICmpSLT(amount, zero);
    return b.CreateSelect(negative, shift(!left, b.CreateNeg(amount)), shift(left, amount));
}

namespace {

Value *combine(Builder &b, Op op, Type type, Value *x, Value *y) {
    switch (op) {
    case Op::Add:
        return emit_add(b, type, x, y);
    case Op::Mul:
        return emit_mul(b, type, x, y);
    case Op::Min:
        return emit_min(b, type, x, y);
    case Op::Max:
        return emit_max(b, type, x, y);
    case Op::And:
        return b.CreateAnd(x, y);
    case Op::Or:
        return b.CreateOr(x, y);
    default:
        throw InternalError("VectorReduce of an operator that does not combine");
    }
}

}  // namespace

Value *emit_vector_reduce(Builder &b, Op op, Type type, Value *x, int lanes) {
    int per_result = type.lanes() / lanes;
    if (per_result == 1)
        return x;
    if (lanes == 1 && per_result % 2 == 0) {
        // The halves of the vector: whole registers first, then parts of one.
        int half = per_result / 2;
        Value *both = combine(b, op, type, slice(b, x, 0, half), slice(b, x, half, half));
        return emit_vector_reduce(b, op, type.with_lanes(half), both, 1);
    }
    Value *result = strided_slice(b, x, 0, per_result, lanes);
    for (int i = 1; i < per_result; i++) {
        result = combine(b, op, type, result, strided_slice(b, x, i, per_result, lanes));
    }
    return result;
}

Value *emit_prefix(Builder &b, Op op, Type type, Value *x, Value *identity) {
    identity = b.CreateVectorSplat(static_cast<unsigned>(type.lanes()), identity);
    for (int distance = 1; distance < type.lanes(); distance *= 2) {
        std::vector<int> lanes;  // `distance` lanes of the identity, then those of x
        for (int i = 0; i < type.lanes(); i++)
            lanes.push_back(i < distance ? type.lanes() + i : i - distance);
        x = combine(b, op, type, x, b.CreateShuffleVector(x, identity, lanes));
    }
    return x;
}

}  // namespace Pipe::codegen
