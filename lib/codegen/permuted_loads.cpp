// Loads of elements that lie in one vector, in another order, as at the edges of an image: the vector is loaded with a mask,
// and permuted. Gathering would take a load per lane.
//
//  1. At clamped coordinates, max(min(ramp(x, 1, 16), right), left), as of repeat_edge(): from lane to lane, they stay or
//     advance by one.
//  2. At others, as of mirror_image(), if that is found at run time: only of narrow elements, which no instruction gathers,
//     and not where data say which elements.

#include <algorithm>

#include <llvm/IR/IntrinsicsX86.h>

#include "codegen/arith.h"
#include "codegen/expr_emitter.h"
#include "codegen/values.h"
#include "ir/int32.h"
#include "support/target.h"

namespace Pipe::codegen {

using ir::Op;
using llvm::Value;

namespace {

/// Whether the value stays or increases by one from lane to lane.
bool advances_by_at_most_one(const Expr &e) {
    switch (e->op) {
    case Op::Ramp:
        return ir::is_const(e->stride(), 1);
    case Op::Broadcast:
        return e->value().type().is_scalar();
    case Op::Min:
    case Op::Max:
        return advances_by_at_most_one(e->a()) && advances_by_at_most_one(e->b());
    default:
        return false;
    }
}

/// The value in one lane of such an expression.
Expr in_lane(const Expr &e, int lane) {
    if (e->op == Op::Broadcast)
        return e->value();
    if (e->op == Op::Ramp)
        return ir::add(e->base(), ir::make_const(e->base().type(), lane));
    return ir::make_binary(e->op, in_lane(e->a(), lane), in_lane(e->b(), lane));
}

/// An index as the sum of what is the same in all lanes and the rest, which may be narrower.
struct IndexParts {
    Expr same;  ///< a scalar; undefined: 0
    Expr lanes;
};

/// What is the same in all lanes, as a scalar; undefined for others.
Expr same_in_all(const Expr &e) {
    if (e->op == Op::Broadcast)
        return e->value().type().is_scalar() ? e->value() : Expr();
    if (e->op != Op::Cast)
        return Expr();
    const Expr value = same_in_all(e->value());
    return value.defined() ? ir::make_cast(e.type().element_of(), value) : value;
}

IndexParts parts_of(Expr e) {
    IndexParts parts;
    while (e->op == Op::Add) {
        Expr same = same_in_all(e->a()), rest = e->b();
        if (!same.defined())
            same = same_in_all(e->b()), rest = e->a();
        if (!same.defined())
            break;
        parts.same = parts.same.defined() ? ir::add(parts.same, same) : same;
        e = rest;
    }
    if (e->op == Op::Cast && e.type().is_int() && e->value().type().is_int() &&
        e.type().bits() > e->value().type().bits())
        e = e->value();
    parts.lanes = e;
    return parts;
}

/// The instruction that permutes the lanes of a vector register of so many bits; 0 if there is none.
llvm::Intrinsic::ID permutation(const Target &target, int element_bits, int bits) {
    struct Permutation {
        int element_bits, bits;
        Target::Feature needs;
        llvm::Intrinsic::ID id;
    };
    static const Permutation all[] = {
        {8, 128, Target::AVX512_Cannonlake, llvm::Intrinsic::x86_avx512_permvar_qi_128},
        {8, 256, Target::AVX512_Cannonlake, llvm::Intrinsic::x86_avx512_permvar_qi_256},
        {8, 512, Target::AVX512_Cannonlake, llvm::Intrinsic::x86_avx512_permvar_qi_512},
        {16, 128, Target::AVX512_Skylake, llvm::Intrinsic::x86_avx512_permvar_hi_128},
        {16, 256, Target::AVX512_Skylake, llvm::Intrinsic::x86_avx512_permvar_hi_256},
        {16, 512, Target::AVX512_Skylake, llvm::Intrinsic::x86_avx512_permvar_hi_512},
        {32, 256, Target::AVX2, llvm::Intrinsic::x86_avx2_permd},
        {32, 512, Target::AVX512_Skylake, llvm::Intrinsic::x86_avx512_permvar_si_512}};
    for (const Permutation &i : all)
        if (i.element_bits == element_bits && i.bits == bits && target.has_feature(i.needs))
            return i.id;
    return llvm::Intrinsic::not_intrinsic;
}

}  // namespace

/// Null where the load is not of these kinds.
/// \param mask  the lanes to access; null: all
Value *ExprEmitter::load_permuted(const ir::ExprNode &e, Value *mask) {
    const int bits = e.type.bits(), all = e.type.lanes();
    const int lanes = std::min(all, unit_.target.natural_vector_size(e.type.element_of()));
    const llvm::Intrinsic::ID permute = permutation(unit_.target, bits, bits * lanes);
    if (frame_.kernel || !permute || all % lanes != 0 || e.type.is_bool() ||
        !support::has_masked_access(unit_.target, e.type))
        return nullptr;
    const IndexParts index = parts_of(e.element());
    const bool is_clamped = (index.lanes->op == Op::Min || index.lanes->op == Op::Max) &&
                            advances_by_at_most_one(index.lanes);
    if (!is_clamped && (has_fast_gather(e.type) || depends_on_data(e.element())))
        return nullptr;
    if (!is_clamped)
        return load_near(e, permute, index.same, index.lanes, lanes, mask);
    std::vector<Value *> parts;
    for (int begin = 0; begin < all; begin += lanes)
        parts.push_back(load_clamped(e, permute, index.same, index.lanes, begin, lanes,
                                     mask ? subvector(b_, mask, begin, lanes) : nullptr));
    return concat(b_, parts);
}

/// As many lanes as `which` has: each of them an element of the vector that begins at `first`.
/// \param which  in [0, lanes), in a type as wide as the elements
/// \param on     the elements of that vector to access
Value *ExprEmitter::load_window(const ir::ExprNode &e, llvm::Intrinsic::ID permute,
                                const Offset &first, Value *which, Value *on, Value *mask) {
    Value *loaded = load_dense(e, e.type.with_lanes(lanes_of(which)), first, {on, nullptr});
    // (Of floats as integers, too: the instruction for them differs by its name alone.)
    Value *found =
        b_.CreateIntrinsic(permute, {}, {b_.CreateBitCast(loaded, which->getType()), which});
    found = b_.CreateBitCast(found, loaded->getType());
    return mask ? b_.CreateSelect(mask, found, llvm::Constant::getNullValue(found->getType()))
                : found;
}

/// Lanes from `begin` on: those of one register.
Value *ExprEmitter::load_clamped(const ir::ExprNode &e, llvm::Intrinsic::ID permute,
                                 const Expr &base, const Expr &ramp, int begin, int lanes,
                                 Value *mask) {
    const Expr first = in_lane(ramp, begin);
    const Type number = Int(e.type.bits(), lanes);
    llvm::Type *numbers = register_type(unit_.context, number);
    auto splat = [&](Value *value) {
        return b_.CreateVectorSplat(static_cast<unsigned>(lanes), value);
    };
    Value *which = place_in_window(ramp, first, begin, number);
    // Only elements between those that are needed may be accessed.
    Value *last = nullptr, *on = nullptr;
    if (mask) {
        Value *active = b_.CreateSelect(mask, which, constant(b_, number, -1));
        last = b_.CreateIntMaxReduce(active, true);
        Value *least =
            b_.CreateIntMinReduce(b_.CreateSelect(mask, which, constant(b_, number, lanes)), true);
        on = b_.CreateICmpSGE(lane_numbers(numbers), splat(least));
    } else {
        last = b_.CreateExtractElement(which, static_cast<uint64_t>(lanes - 1));
    }
    Value *up_to = b_.CreateICmpSLE(lane_numbers(numbers), splat(last));
    on = on ? b_.CreateAnd(on, up_to) : up_to;
    Expr place = ir::make_cast(Int(64), first);
    if (base.defined())
        place = ir::add(ir::make_cast(Int(64), base), place);
    return load_window(e, permute, offset(place), which, on, mask);
}

/// The same at coordinates of which nothing is known: gathers where they lie further apart than a register is wide.
Value *ExprEmitter::load_near(const ir::ExprNode &e, llvm::Intrinsic::ID permute, const Expr &base,
                              const Expr &index, int lanes, Value *mask) {
    Value *places = emit(index), *all_near = nullptr;
    llvm::Type *element = places->getType()->getScalarType();
    const unsigned bits = element->getIntegerBitWidth();
    auto splat = [&](Value *value) {
        return b_.CreateVectorSplat(static_cast<unsigned>(lanes), value);
    };
    auto number = [&](const llvm::APInt &value) {
        return splat(llvm::ConstantInt::get(element, value));
    };
    struct Window {
        Value *at, *first, *distance, *mask;
    };
    std::vector<Window> windows;
    for (int begin = 0; begin < e.type.lanes(); begin += lanes) {
        Window w{subvector(b_, places, begin, lanes), nullptr, nullptr, nullptr};
        Value *low = w.at, *high = w.at;
        if (mask) {
            w.mask = subvector(b_, mask, begin, lanes);
            low = b_.CreateSelect(w.mask, low, number(llvm::APInt::getSignedMaxValue(bits)));
            high = b_.CreateSelect(w.mask, high, number(llvm::APInt::getSignedMinValue(bits)));
        }
        w.first = b_.CreateIntMinReduce(low, true);
        Value *last = b_.CreateIntMaxReduce(high, true);
        w.distance = b_.CreateSub(last, w.first);
        Value *is_near = b_.CreateAnd(
            b_.CreateICmpULT(w.distance, llvm::ConstantInt::get(element, uint64_t(lanes))),
            b_.CreateICmpSGE(last, w.first));
        all_near = all_near ? b_.CreateAnd(all_near, is_near) : is_near;
        windows.push_back(w);
    }
    llvm::BasicBlock *near = frame_.new_block("near"), *apart = frame_.new_block("apart"),
                     *join = frame_.new_block("loaded");
    b_.CreateCondBr(all_near, near, apart);
    b_.SetInsertPoint(near);
    Value *permuted = with_scoped_memo([&] {
        std::vector<Value *> parts;
        llvm::Type *numbers = register_type(unit_.context, Int(e.type.bits(), lanes));
        for (const Window &w : windows) {
            Value *which = b_.CreateTrunc(b_.CreateSub(w.at, splat(w.first)), numbers);
            Value *last = b_.CreateTrunc(w.distance, numbers->getScalarType());
            Value *on = b_.CreateICmpULE(lane_numbers(numbers), splat(last));
            Offset first = base.defined() ? offset(ir::make_cast(Int(64), base)) : Offset{};
            first.terms.push_back({b_.CreateSExt(w.first, b_.getInt64Ty()), 1, frame_.loop_depth});
            parts.push_back(load_window(e, permute, first, which, on, w.mask));
        }
        return concat(b_, parts);
    });
    near = b_.GetInsertBlock();
    b_.CreateBr(join);
    b_.SetInsertPoint(apart);
    Value *gathered = with_scoped_memo(
        [&] { return from_memory(b_, e.type, gather_at(e, e.type, e.element(), mask)); });
    apart = b_.GetInsertBlock();
    b_.CreateBr(join);
    b_.SetInsertPoint(join);
    llvm::PHINode *phi = b_.CreatePHI(permuted->getType(), 2);
    phi->addIncoming(permuted, near);
    phi->addIncoming(gathered, apart);
    return phi;
}

/// ramp - first in each lane from `begin` on, which lies in [0, lanes). Elements of the type may be too narrow for the
/// operands: these are limited to numbers beyond both ends, which minima and maxima then keep.
Value *ExprEmitter::place_in_window(const Expr &ramp, const Expr &first, int begin, Type number) {
    const int lanes = number.lanes();
    auto limited = [&](const Expr &value) {
        const Type type = value.type();
        const Expr distance = ir::make_binary(Op::Sub, value, first);
        const Expr inside = ir::make_binary(
            Op::Max, ir::make_binary(Op::Min, distance, ir::make_const(type, lanes)),
            ir::make_const(type, -lanes));
        Value *narrow =
            b_.CreateTrunc(emit(inside), register_type(unit_.context, number.element_of()));
        return b_.CreateVectorSplat(static_cast<unsigned>(lanes), narrow);
    };
    auto place = [&](auto &&self, const Expr &e) -> Value * {
        if (e->op == Op::Broadcast)
            return limited(e->value());
        if (e->op == Op::Ramp)
            return b_.CreateAdd(limited(in_lane(e, begin)),
                                lane_numbers(register_type(unit_.context, number)));
        Value *x = self(self, e->a()), *y = self(self, e->b());
        return e->op == Op::Min ? emit_min(b_, number, x, y) : emit_max(b_, number, x, y);
    };
    Value *result = place(place, ramp);
    result = emit_max(b_, number, result, constant(b_, number, 0));
    return emit_min(b_, number, result, constant(b_, number, lanes - 1));
}

}  // namespace Pipe::codegen
