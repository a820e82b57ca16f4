// Loads and stores.

#include <algorithm>
#include <bit>
#include <functional>

#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/InlineAsm.h>
#include <llvm/IR/Intrinsics.h>

#include "codegen/expr_emitter.h"
#include "ir/equal.h"
#include "jit/runtime/gpu_abi.h"
#include "support/target.h"

namespace Pipe::codegen {

using llvm::Value;

namespace {

/// How many of so many lanes one gather loads: all, if they are a power of two. LLVM 19 pads others by registers whose
/// index is undefined, and may let such an instruction overwrite its index, which is illegal on x86.
int lanes_of_gather(int lanes) {
    constexpr int most = 16;
    const auto count = static_cast<unsigned>(lanes);
    return std::has_single_bit(count) ? lanes
                                      : std::min(most, static_cast<int>(std::bit_floor(count)));
}

Value *reversed(Builder &b, Value *vector) {
    if (!vector || lanes_of(vector) == 1)
        return vector;
    std::vector<int> mask;
    for (int i = lanes_of(vector) - 1; i >= 0; i--)
        mask.push_back(i);
    return b.CreateShuffleVector(vector, mask);
}

/// The mask of a load of elements with `bits` bits, hidden from LLVM's analysis by an empty inline
/// assembly. (Without AVX-512, if LLVM 19 finds late that a mask disables all lanes, it loads all
/// of them.)
Value *hidden(Builder &b, Value *mask, int bits) {
    if (llvm::isa<llvm::Constant>(mask))
        return mask;
    // It passes as a whole register.
    const int lanes = lanes_of(mask), whole = (lanes * bits <= 128 ? 128 : 256) / bits;
    std::vector<int> order;
    for (int i = 0; i < whole; i++)
        order.push_back(std::min(i, lanes));  // lane `lanes`: false
    Value *none = llvm::Constant::getNullValue(mask->getType());
    llvm::Type *signs = with_lanes(b.getIntNTy(static_cast<unsigned>(bits)), whole);
    Value *in = b.CreateSExt(b.CreateShuffleVector(mask, none, order), signs);
    auto *nothing = llvm::InlineAsm::get(llvm::FunctionType::get(signs, {signs}, false), "", "=x,0",
                                         /*hasSideEffects=*/false);
    Value *out = b.CreateICmpSLT(b.CreateCall(nothing, in), llvm::Constant::getNullValue(signs));
    return subvector(b, out, 0, lanes);
}

/// The places of the first elements, if the lanes of a load are pairs of neighbors (lower/share_strided_loads.h); else null.
const Expr *first_of_pairs(const Expr &index) {
    if (index->op != ir::Op::Interleave || index->args.size() != 2)
        return nullptr;
    const Expr &first = index->args[0], &second = index->args[1];
    const bool is_next = second->op == ir::Op::Add && ir::equal(second->a(), first) &&
                         second->b()->op == ir::Op::Broadcast &&
                         ir::is_const(second->b()->args[0], 1);
    return is_next ? &first : nullptr;
}

bool is_always(const Expr &predicate) {
    return !predicate.defined() || ir::is_const(predicate, 1);
}

bool is_uniform(const Expr &predicate) {
    return predicate->op == ir::Op::Broadcast && predicate->value().type().is_scalar();
}

}  // namespace

/// Annotates the access with its buffer, and loads as non-temporal if requested.
/// \param active  of a scalar: whether it is an access to the buffer; null: always
void ExprEmitter::mark(llvm::Instruction *access, const std::string &buffer, Value *active) {
    auto shared = unit_.memory_of.find(buffer);
    frame_.aliases.mark(access, shared == unit_.memory_of.end() ? buffer : shared->second);
    if (frame_.kernel && frame_.kernel->emulated_thread)
        tell_emulator(access, buffer, active);
    if (llvm::isa<llvm::LoadInst>(access) && unit_.nontemporal_loads.count(buffer) > 0)
        bypass_caches_if_possible(access);
}

/// The part common to all lanes is added to the base once, outside of loops if possible.
Value *ExprEmitter::addresses(const std::string &buffer, Type element, const Expr &index) {
    llvm::Type *type = memory_type(unit_.context, element.element_of());
    Value *base = address(buffer, element, {});
    Expr lanes = index;
    const auto take_common_part = [&](Expr &sum) {
        if (sum->op != ir::Op::Add || sum->b()->op != ir::Op::Broadcast)
            return false;
        base = b_.CreateGEP(type, base, emit(sum->b()->value()));
        sum = Expr(sum->a());
        return true;
    };
    while (take_common_part(lanes)) {
    }
    if (lanes->op == ir::Op::Cast && ir::has_no_overflow(lanes->value().type())) {
        Expr narrow = lanes->value();
        bool is_changed = false;
        while (take_common_part(narrow))
            is_changed = true;
        if (is_changed)
            lanes = ir::make_cast(lanes.type(), narrow);
    }
    return b_.CreateGEP(type, base, emit(lanes));
}

/// The known alignment of the address at which a dense access to `index` begins.
llvm::Align ExprEmitter::alignment(const std::string &buffer, Type element, const Expr &index) {
    const BufferBinding *bound = frame_.buffers.find(buffer);
    int64_t factor = 1;
    bool ramp = index->op == ir::Op::Ramp && ir::is_const(index->stride(), 1);
    if (bound && bound->aligned && (ramp || index.type().is_scalar())) {
        factor = known_factor(ramp ? index->base() : index, 64);
    }
    return llvm::Align(static_cast<uint64_t>(std::min<int64_t>(64, element.bytes() * factor)));
}

/// The lanes to access; null for all.
Value *ExprEmitter::mask_of(const Expr &predicate, int lanes) {
    if (is_always(predicate))
        return nullptr;
    Value *mask = emit(predicate);
    return lanes_of(mask) == lanes ? mask
                                   : b_.CreateVectorSplat(static_cast<unsigned>(lanes), mask);
}

/// Where all lanes have the same condition, no mask is needed: for some types there are no masked loads, and what is
/// not accessed may be read from elsewhere as well.
ExprEmitter::Active ExprEmitter::active_of(const Expr &predicate, int lanes) {
    if (!is_always(predicate) && is_uniform(predicate) && !frame_.kernel)
        return {nullptr, emit(predicate->value())};
    return {mask_of(predicate, lanes), nullptr};
}

/// Whether masked accesses are instructions that take the mask from the sign bits of a vector's
/// lanes.
bool ExprEmitter::masks_by_signs(Type type) const {
    return type.bits() >= 32 && unit_.target.has_feature(Target::AVX) &&
           !unit_.target.has_feature(Target::AVX512);
}

/// Instructions that gather exist for 4 and 8 bytes.
bool ExprEmitter::has_fast_gather(Type type) const {
    return unit_.target.has_feature(Target::AVX2) && type.bits() >= 32;
}

Value *ExprEmitter::load(const Expr &e) {
    Type type = e.type();
    const Expr &index = e->element(), predicate = e->predicate();
    if (type.is_scalar()) {
        if (!is_always(predicate))
            return load_scalar_if(*e, emit(predicate));
        return active_ && !is_own_constant(*e) ? load_where_active(*e)
                                               : load_dense(*e, type, offset(index), {});
    }
    std::optional<Affine> lanes = affine(index);
    if (!lanes || !lanes->stride.is_constant())
        return gather(*e, mask_of(predicate, type.lanes()));
    int64_t stride = lanes->stride.constant;
    if (stride == 1)
        return load_dense(*e, type, lanes->start, active_of(predicate, type.lanes()));
    if (stride == -1) {
        Active active = active_of(predicate, type.lanes());
        active.lanes = reversed(b_, active.lanes);
        return reversed(b_, load_dense(*e, type, lanes->start.plus(1 - type.lanes()), active));
    }
    // In a kernel, the elements between may be those that other threads store.
    if (!frame_.kernel &&
        takes_dense_loads(type, stride, is_always(predicate) || is_uniform(predicate)))
        return load_strided(*e, lanes->start, static_cast<int>(stride),
                            active_of(predicate, type.lanes()));
    if (stride == 0 && (is_always(predicate) || !frame_.kernel))
        return load_same(*e, lanes->start, active_of(predicate, type.lanes()));
    return gather(*e, mask_of(predicate, type.lanes()));
}

/// Loads a scalar, or adjacent lanes beginning at `start`. Lanes that are masked off give 0.
Value *ExprEmitter::load_dense(const ir::ExprNode &e, Type type, const Offset &start,
                               const Active &active) {
    Value *p = address(e.name, type, start);
    if (active.condition)
        p = b_.CreateSelect(active.condition, p, unit_.zeros(type.bytes() * type.lanes()));
    llvm::Align align = alignment(e.name, type, e.element());
    // A non-temporal load is frozen, so that no element of it becomes a separate load, for which
    // x86 has no instruction (LLVM 19 crashes).
    auto marked = [&](llvm::Instruction *loaded) -> Value * {
        mark(loaded, e.name);
        return loaded->hasMetadata(llvm::LLVMContext::MD_nontemporal) ? b_.CreateFreeze(loaded)
                                                                      : loaded;
    };
    if (!active.lanes) {
        llvm::Type *element = memory_type(unit_.context, type.element_of());
        return from_memory(b_, type, load_pieces(type, [&](Type piece, int begin) {
                               auto place = static_cast<uint64_t>(begin);
                               auto bytes = static_cast<uint64_t>(type.bytes());
                               return marked(b_.CreateAlignedLoad(
                                   memory_type(unit_.context, piece),
                                   begin == 0 ? p : b_.CreateConstGEP1_64(element, p, place),
                                   llvm::commonAlignment(align, place * bytes)));
                           }));
    }
    // (GVN would take the piece of each register from the last store by way of integers of 512 bits.)
    if (is_in_own_array(type, e.element(), p)) {
        llvm::Type *t = memory_type(unit_.context, type);
        Value *loaded = marked(b_.CreateAlignedLoad(t, p, align));
        return from_memory(b_, type,
                           b_.CreateSelect(active.lanes, loaded, llvm::Constant::getNullValue(t)));
    }
    std::vector<Value *> parts;
    for_each_register(type, p, align, [&](Value *at, llvm::Align aligned, int begin, int lanes) {
        llvm::Type *t = vector_of(memory_type(unit_.context, type.element_of()), lanes);
        Value *on = subvector(b_, active.lanes, begin, lanes),
              *zero = llvm::Constant::getNullValue(t);
        if (masks_by_signs(type))
            on = hidden(b_, on, type.bits());
        parts.push_back(marked(b_.CreateMaskedLoad(t, at, aligned, on, zero)));
    });
    return from_memory(b_, type, concat(b_, parts));
}

/// All lanes, as vectors of 2^n lanes. (For other vectors LLVM 19 loads beyond the end, or single
/// elements.) If the last one would be short, two overlapping ones are used.
Value *ExprEmitter::load_pieces(Type type, const std::function<Value *(Type, int begin)> &load) {
    const unsigned all = static_cast<unsigned>(type.lanes()), even = all & -all;
    const bool is_long = even * static_cast<unsigned>(type.bytes()) >= 16;
    const int lanes = type.lanes(), piece = static_cast<int>(is_long ? even : llvm::bit_floor(all));
    std::vector<Value *> parts;
    for (int begin = 0; begin < lanes; begin += piece) {
        const int from = std::min(begin, lanes - piece);
        Value *loaded = load(type.with_lanes(piece), from);
        parts.push_back(lanes == 1 ? loaded
                                   : subvector(b_, loaded, begin - from, piece - (begin - from)));
    }
    return concat(b_, parts);
}

/// Parts of a masked access that fit into a register. (LLVM 19 splits wider ones itself, and if the
/// mask is known to disable all lanes of a part, it may load that part without a mask.)
void ExprEmitter::for_each_register(
    Type type, Value *p, llvm::Align align,
    const std::function<void(Value *, llvm::Align, int, int)> &access) {
    int widest = unit_.target.natural_vector_size(type.element_of());
    llvm::Type *element = memory_type(unit_.context, type.element_of());
    for (int begin = 0; begin < type.lanes(); begin += widest) {
        auto offset = static_cast<uint64_t>(begin) * static_cast<uint64_t>(type.bytes());
        access(b_.CreateConstGEP1_64(element, p, static_cast<uint64_t>(begin)),
               llvm::commonAlignment(align, offset), begin, std::min(widest, type.lanes() - begin));
    }
}

/// One element for all lanes: read once if any lane needs it.
Value *ExprEmitter::load_same(const ir::ExprNode &e, const Offset &place, const Active &active) {
    Value *any = active.lanes ? b_.CreateOrReduce(active.lanes) : active.condition;
    Value *one = load_dense(e, e.type.element_of(), place, {nullptr, any});
    Value *all = b_.CreateVectorSplat(static_cast<unsigned>(e.type.lanes()), one);
    return active.lanes
               ? b_.CreateSelect(active.lanes, all, llvm::Constant::getNullValue(all->getType()))
               : all;
}

Value *ExprEmitter::gather(const ir::ExprNode &e, Value *mask) {
    if (Value *found = mask ? nullptr : look_up(e))
        return found;
    if (Value *found = load_permuted(e, mask))
        return found;
    if (const Expr *first = mask || frame_.kernel ? nullptr : first_of_pairs(e.element())) {
        const Type pair = UInt(2 * e.type.bits(), e.type.lanes() / 2);
        Value *loaded = gather_at(e, pair, *first, nullptr);
        return from_memory(b_, e.type,
                           b_.CreateBitCast(loaded, memory_type(unit_.context, e.type)));
    }
    return from_memory(b_, e.type, gather_at(e, e.type, e.element(), mask));
}

/// Lanes of type `type` at the places of elements of the buffer.
Value *ExprEmitter::gather_at(const ir::ExprNode &e, Type type, const Expr &index, Value *mask) {
    llvm::Type *t = memory_type(unit_.context, type);
    Value *pointers = addresses(e.name, e.type.with_lanes(type.lanes()), index);
    llvm::Align align(static_cast<uint64_t>(e.type.bytes()));
    if (has_fast_gather(type)) {
        if (!mask)
            mask = llvm::Constant::getAllOnesValue(with_lanes(b_.getInt1Ty(), type.lanes()));
        std::vector<Value *> parts;
        for (int begin = 0, lanes = 0; begin < type.lanes(); begin += lanes) {
            lanes = lanes_of_gather(type.lanes() - begin);
            llvm::Type *part = vector_of(t->getScalarType(), lanes);
            auto *loaded = b_.CreateMaskedGather(part, subvector(b_, pointers, begin, lanes), align,
                                                 subvector(b_, mask, begin, lanes),
                                                 llvm::Constant::getNullValue(part));
            mark(loaded, e.name);
            parts.push_back(loaded);
        }
        return concat(b_, std::move(parts));
    }
    std::vector<Value *> each{pointers};
    if (mask) {
        Value *zero =
            b_.CreateVectorSplat(static_cast<unsigned>(type.lanes()), unit_.zeros(type.bytes()));
        each = {b_.CreateSelect(mask, pointers, zero), mask};
    }
    return lane_by_lane(b_, each, type.lanes(), [&](const std::vector<Value *> &lane) {
        auto *loaded = b_.CreateAlignedLoad(t->getScalarType(), lane[0], align);
        mark(loaded, e.name, mask ? lane[1] : nullptr);
        return loaded;
    });
}

/// As a vector of one lane, which becomes one instruction with a predicate.
Value *ExprEmitter::load_where_active(const ir::ExprNode &e) {
    llvm::Type *t = llvm::FixedVectorType::get(memory_type(unit_.context, e.type), 1);
    Value *p = address(e.name, e.type, offset(e.element()));
    const bool is_shared = frame_.buffers.find(e.name)->memory == runtime::GPUSite::Shared;
    if (!frame_.kernel->emulated_thread)  // LLVM 19 does not find the space for masked loads
        p = b_.CreateAddrSpaceCast(p, b_.getPtrTy(is_shared ? shared_space : global_space));
    auto *loaded =
        b_.CreateMaskedLoad(t, p, alignment(e.name, e.type, e.element()),
                            b_.CreateVectorSplat(1, active_), llvm::Constant::getNullValue(t));
    mark(loaded, e.name);
    return from_memory(b_, e.type, b_.CreateExtractElement(loaded, uint64_t{0}));
}

Value *ExprEmitter::load_scalar_if(const ir::ExprNode &e, Value *condition) {
    llvm::BasicBlock *before = b_.GetInsertBlock();
    llvm::BasicBlock *then = frame_.new_block("load"), *join = frame_.new_block("loaded");
    b_.CreateCondBr(condition, then, join);
    b_.SetInsertPoint(then);
    Value *loaded =
        with_scoped_memo([&] { return load_dense(e, e.type, offset(e.element()), {}); });
    b_.CreateBr(join);
    then = b_.GetInsertBlock();
    b_.SetInsertPoint(join);
    llvm::PHINode *phi = b_.CreatePHI(loaded->getType(), 2);
    phi->addIncoming(loaded, then);
    phi->addIncoming(llvm::Constant::getNullValue(loaded->getType()), before);
    return phi;
}

void ExprEmitter::emit_store(const ir::StmtNode &s) {
    Type type = s.value().type();
    const Expr &predicate = s.predicate();
    if (is_always(predicate))
        return store_lanes(s, nullptr);
    if (type.is_vector() && predicate->op != ir::Op::Broadcast) {
        return store_lanes(s, mask_of(predicate, type.lanes()));
    }
    // One condition for all lanes: a branch.
    llvm::BasicBlock *then = frame_.new_block("store"), *join = frame_.new_block("stored");
    b_.CreateCondBr(emit(type.is_scalar() ? predicate : predicate->value()), then, join);
    b_.SetInsertPoint(then);
    store_lanes(s, nullptr);
    b_.CreateBr(join);
    b_.SetInsertPoint(join);
}

void ExprEmitter::store_lanes(const ir::StmtNode &s, Value *mask) {
    if (s.atomic)
        return store_atomic(s);
    Type type = s.value().type();
    const Expr &index = s.index();
    Value *stored = to_memory(b_, type, emit(s.value()));
    if (type.is_scalar())
        return store_dense(s, offset(index), stored, nullptr);
    std::optional<Affine> lanes = affine(index);
    int64_t stride = lanes && lanes->stride.is_constant() ? lanes->stride.constant : 0;
    if (stride == 1)
        return store_dense(s, lanes->start, stored, mask);
    if (stride == -1) {
        Offset first = lanes->start.plus(1 - type.lanes());
        return store_dense(s, first, reversed(b_, stored), reversed(b_, mask));
    }
    scatter(s, stored, mask);
}

void ExprEmitter::store_dense(const ir::StmtNode &s, const Offset &start, Value *value,
                              Value *mask) {
    Type type = s.value().type();
    llvm::Align align = alignment(s.name, type, s.index());
    Value *p = address(s.name, type, start);
    if (mask && is_in_own_array(type, s.index(), p)) {
        Value *old = b_.CreateAlignedLoad(value->getType(), p, align);
        b_.CreateAlignedStore(b_.CreateSelect(mask, value, old), p, align, /*isVolatile=*/true);
        return;
    }
    if (!mask)
        return store_whole(s.name, value, p, align);
    for_each_register(type, p, align, [&](Value *at, llvm::Align aligned, int begin, int lanes) {
        Value *part = subvector(b_, value, begin, lanes), *on = subvector(b_, mask, begin, lanes);
        mark(b_.CreateMaskedStore(part, at, aligned, on), s.name);
    });
}

/// Whether all lanes, also those that are masked off, are elements of an array that only this function accesses. These
/// may be stored as they were: the processor can load what was stored before it has left the store buffer, unlike
/// after a masked store. (The store is volatile, so that the array stays in memory in this version of a block: if LLVM
/// 19 joins it in registers with the version without masks, the loop of that one takes 1.3 times as long.)
bool ExprEmitter::is_in_own_array(Type type, const Expr &index, Value *begin) const {
    const auto *array = llvm::dyn_cast<llvm::AllocaInst>(llvm::getUnderlyingObject(begin));
    if (frame_.kernel || !array || index->op != ir::Op::Ramp || !ir::is_const(index->stride(), 1) ||
        !llvm::isPowerOf2_32(unsigned(type.lanes())))
        return false;
    const ir::ConstantInterval first = range(index->base());
    const auto count =
        static_cast<int64_t>(array->getAllocatedType()->getArrayNumElements()) - type.lanes();
    return first.lo >= 0 && first.hi <= count;
}

/// Lane by lane, in order: if two lanes have the same index, the last one wins. (Scatter
/// instructions are not faster.)
void ExprEmitter::scatter(const ir::StmtNode &s, Value *value, Value *mask) {
    Type type = s.value().type();
    Value *pointers = addresses(s.name, type, s.index());
    llvm::Align align(static_cast<uint64_t>(type.bytes()));
    if (mask) {
        mark(b_.CreateMaskedScatter(value, pointers, align, mask), s.name);
        return;
    }
    for (int i = 0; i < type.lanes(); i++) {
        auto lane = static_cast<uint64_t>(i);
        auto *store = b_.CreateAlignedStore(b_.CreateExtractElement(value, lane),
                                            b_.CreateExtractElement(pointers, lane), align);
        mark(store, s.name);
    }
}

/// Into all caches, for reading.
void ExprEmitter::emit_prefetch(const ir::StmtNode &s) {
    Value *p = address(s.name, s.types[0], offset(s.index()));
    constexpr uint32_t read = 0, all_levels = 3, data = 1;
    b_.CreateIntrinsic(llvm::Intrinsic::prefetch, {p->getType()},
                       {p, b_.getInt32(read), b_.getInt32(all_levels), b_.getInt32(data)});
}

}  // namespace Pipe::codegen
