// Tables of 256 bytes that vectors of bytes look up: the table is in registers, and an instruction (AVX-512 VBMI) takes
// 64 of its elements from 128.

#include <array>

#include <llvm/IR/IntrinsicsX86.h>

#include "codegen/expr_emitter.h"
#include "codegen/values.h"

namespace Pipe::codegen {

using llvm::Value;

namespace {

constexpr int64_t table_bytes = 256;
constexpr int at_once = 64;  ///< lanes

/// The vector of bytes that an index consists of, or nothing.
Expr bytes_of(const Expr &index) {
    const bool widened = index->op == ir::Op::Cast && index->value().type().element_of() == UInt(8);
    return widened ? index->value() : Expr();
}

}  // namespace

/// Null where the load is not of this kind. All of the table is read: it must be known to be there.
Value *ExprEmitter::look_up(const ir::ExprNode &e) {
    const Expr bytes = bytes_of(e.element());
    const BufferBinding *table = frame_.buffers.find(e.name);
    if (!unit_.target.has_feature(Target::AVX512_Cannonlake) || e.type.bits() != 8 ||
        !bytes.defined() || !table || table->bytes < table_bytes)
        return nullptr;
    llvm::Type *quarter = with_lanes(b_.getInt8Ty(), at_once);
    Value *base = address(e.name, e.type, {});
    std::array<Value *, table_bytes / at_once> quarters{};
    for (size_t i = 0; i < quarters.size(); i++) {
        Value *from = b_.CreateConstGEP1_64(b_.getInt8Ty(), base, i * at_once);
        auto *loaded =
            b_.CreateAlignedLoad(quarter, from, llvm::Align(table->aligned ? at_once : 1));
        mark(loaded, e.name);
        quarters[i] = loaded;
    }
    auto of_half = [&](Value *index, size_t half) -> Value * {
        return b_.CreateIntrinsic(llvm::Intrinsic::x86_avx512_vpermi2var_qi_512, {},
                                  {quarters[2 * half], index, quarters[2 * half + 1]});
    };
    Value *index = emit(bytes);
    std::vector<Value *> results;
    for (int begin = 0; begin < e.type.lanes(); begin += at_once) {
        const int lanes = std::min(at_once, e.type.lanes() - begin);
        Value *some = slice(b_, index, begin, at_once);
        Value *in_second = b_.CreateICmpSLT(some, llvm::Constant::getNullValue(quarter));
        Value *found = b_.CreateSelect(in_second, of_half(some, 1), of_half(some, 0));
        results.push_back(subvector(b_, found, 0, lanes));
    }
    return from_memory(b_, e.type, concat(b_, results));
}

}  // namespace Pipe::codegen
