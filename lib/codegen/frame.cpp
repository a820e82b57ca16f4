#include "codegen/frame.h"

#include <llvm/IR/MDBuilder.h>

#include "jit/runtime/abi_functions.h"

namespace Pipe::codegen {

void AliasScopes::finish(llvm::LLVMContext &context) const {
    llvm::MDBuilder build(context);
    llvm::MDNode *domain = build.createAnonymousAliasScopeDomain("buffers");
    std::vector<llvm::Metadata *> scopes;
    for (const auto &[buffer, accesses] : accesses_)
        scopes.push_back(build.createAnonymousAliasScope(domain, buffer));
    size_t place = 0;
    for (const auto &[buffer, accesses] : accesses_) {
        std::vector<llvm::Metadata *> others = scopes;
        others.erase(others.begin() + static_cast<std::ptrdiff_t>(place));
        llvm::MDNode *own = llvm::MDNode::get(context, {scopes[place++]});
        llvm::MDNode *rest = llvm::MDNode::get(context, others);
        for (llvm::Instruction *access : accesses) {
            access->setMetadata(llvm::LLVMContext::MD_alias_scope, own);
            access->setMetadata(llvm::LLVMContext::MD_noalias, rest);
        }
    }
}

llvm::FunctionCallee Unit::declare_runtime(void *function, llvm::Type *result,
                                           const std::vector<llvm::Type *> &parameters) const {
    auto callee = module.getOrInsertFunction(runtime::name_of(function),
                                             llvm::FunctionType::get(result, parameters, false));
    llvm::cast<llvm::Function>(callee.getCallee())->setDoesNotThrow();
    return callee;
}

llvm::Constant *Unit::zeros(int bytes) const {
    const std::string name = "pipe.zeros" + std::to_string(bytes);
    if (llvm::GlobalVariable *known = module.getNamedGlobal(name))
        return known;
    auto *value = llvm::ConstantAggregateZero::get(
        llvm::ArrayType::get(llvm::Type::getInt8Ty(context), static_cast<uint64_t>(bytes)));
    auto *made = new llvm::GlobalVariable(module, value->getType(), true,
                                          llvm::GlobalValue::PrivateLinkage, value, name);
    made->setAlignment(llvm::Align(64));
    return made;
}

llvm::Function *Unit::make_function(const std::string &name,
                                    const std::vector<llvm::Type *> &parameters,
                                    bool exported) const {
    auto *type = llvm::FunctionType::get(llvm::Type::getInt32Ty(context), parameters, false);
    auto linkage = exported ? llvm::Function::ExternalLinkage : llvm::Function::InternalLinkage;
    auto *function = llvm::Function::Create(type, linkage, name, module);
    function->setDoesNotThrow();
    if (options.frames) {
        function->addFnAttr("frame-pointer", "all");
        function->setUWTableKind(llvm::UWTableKind::Default);
    }
    // Without these attributes, LLVM splits 64-byte vectors on processors for which it prefers 32
    // bytes.
    int width = 8 * target.natural_vector_size(UInt(8));
    function->addFnAttr("prefer-vector-width", std::to_string(width));
    function->addFnAttr("min-legal-vector-width", std::to_string(width));
    return function;
}

Frame::Frame(llvm::Function *f, const Target &target) : function(f), b(f->getContext()) {
    auto *entry = llvm::BasicBlock::Create(f->getContext(), "entry", f);
    auto *start = llvm::BasicBlock::Create(f->getContext(), "start", f);
    b.SetInsertPoint(entry);
    b.CreateBr(start);
    b.SetInsertPoint(start);
    llvm::FastMathFlags flags;
    bool strict = target.has_feature(Target::StrictFloat);
    bool regroup = target.has_feature(Target::FastMath) && !strict;
    flags.setAllowContract(!strict);
    flags.setAllowReassoc(regroup);
    flags.setNoSignedZeros(regroup);  // otherwise LLVM reassociates almost nothing
    b.setFastMathFlags(flags);
}

void Frame::fence(const Unit &unit) {
    if (!unit.nontemporal_stores.empty())
        b.CreateFence(llvm::AtomicOrdering::SequentiallyConsistent);
}

void Frame::finish() {
    if (function->getReturnType()->isVoidTy())
        b.CreateRetVoid();
    else
        b.CreateRet(b.getInt32(0));
    aliases.finish(function->getContext());
}

llvm::BasicBlock *Frame::new_block(const char *name) {
    return llvm::BasicBlock::Create(function->getContext(), name, function);
}

llvm::Value *Frame::load_fixed(llvm::Type *type, llvm::Value *base, int64_t bytes) {
    llvm::Value *place = b.CreateConstGEP1_64(b.getInt8Ty(), base, static_cast<uint64_t>(bytes));
    llvm::LoadInst *value = b.CreateLoad(type, place);
    value->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(b.getContext(), {}));
    return value;
}

llvm::Value *Frame::entry_alloca(llvm::Type *type, int64_t count, int align) {
    llvm::IRBuilderBase::InsertPointGuard guard(b);
    b.SetInsertPoint(function->getEntryBlock().getTerminator());
    auto *array = llvm::ArrayType::get(type, static_cast<uint64_t>(count));
    auto *alloca = b.CreateAlloca(array);
    alloca->setAlignment(llvm::Align(static_cast<uint64_t>(align)));
    return alloca;
}

void Frame::require(llvm::Value *condition, const std::function<llvm::Value *()> &fail) {
    llvm::BasicBlock *failed = new_block("failed"), *good = new_block("good");
    llvm::MDNode *rarely = llvm::MDBuilder(function->getContext()).createBranchWeights(1 << 20, 1);
    b.CreateCondBr(condition, good, failed, rarely);
    b.SetInsertPoint(failed);
    b.CreateRet(fail());
    b.SetInsertPoint(good);
}

}  // namespace Pipe::codegen
