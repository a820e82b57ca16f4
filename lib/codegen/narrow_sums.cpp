#include "codegen/narrow_sums.h"

#include <llvm/IR/IntrinsicsX86.h>

#include "codegen/arith.h"

namespace Pipe::codegen {

using llvm::Value;

namespace {

struct SumOfLanes {
    int bytes;  ///< of an operand
    llvm::Intrinsic::ID id;
};

/// The largest one for operands of at most so many bytes. \pre bytes >= 16
SumOfLanes instruction(const Target &target, bool is_product, int bytes) {
    if (bytes >= 64 && target.has_feature(Target::AVX512_Skylake))
        return {64, is_product ? llvm::Intrinsic::x86_avx512_pmaddw_d_512
                               : llvm::Intrinsic::x86_avx512_psad_bw_512};
    if (bytes >= 32 && target.has_feature(Target::AVX2))
        return {32, is_product ? llvm::Intrinsic::x86_avx2_pmadd_wd
                               : llvm::Intrinsic::x86_avx2_psad_bw};
    return {16,
            is_product ? llvm::Intrinsic::x86_sse2_pmadd_wd : llvm::Intrinsic::x86_sse2_psad_bw};
}

}  // namespace

Value *emit_narrow_sums(Builder &b, const Target &target, const ir::NarrowTerm &term, Value *x,
                        Value *y, Type type) {
    const Type operand = term.a.type();
    const Type sum = term.is_product ? Int(32) : UInt(64);
    std::vector<Value *> sums;
    for (int done = 0; done < operand.lanes();) {
        const auto [bytes, id] =
            instruction(target, term.is_product, (operand.lanes() - done) * operand.bytes());
        const int lanes = bytes / operand.bytes();
        sums.push_back(
            b.CreateIntrinsic(id, {}, {slice(b, x, done, lanes), slice(b, y, done, lanes)}));
        done += lanes;
    }
    const Type partial = sum.with_lanes(operand.lanes() / term.lanes_per_sum());
    Value *result = emit_vector_reduce(b, ir::Op::Add, partial, concat(b, sums), type.lanes());
    return emit_cast(b, sum.with_lanes(type.lanes()), type, result);
}

}  // namespace Pipe::codegen
