#include "codegen/share_functions.h"

#include <algorithm>
#include <map>

#include <llvm/Bitcode/BitcodeWriter.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Transforms/Utils/Cloning.h>

namespace Pipe::codegen {

using llvm::Function;
using llvm::GlobalValue;
using llvm::GlobalVariable;

namespace {

/// What a thread should have to do: about a third of a second.
constexpr size_t worth_a_thread = 1000;  // instructions

struct Sized {
    const Function *function;
    size_t instructions;
};

std::vector<Sized> largest_first(const llvm::Module &module) {
    std::vector<Sized> functions;
    for (const Function &f : module)
        if (!f.isDeclaration())
            functions.push_back({&f, f.getInstructionCount()});
    std::stable_sort(functions.begin(), functions.end(), [](const Sized &a, const Sized &b) {
        return a.instructions > b.instructions;
    });
    return functions;
}

/// A constant array that every module may have, so that its elements are known there.
bool is_constant(const GlobalValue &value) {
    const auto *variable = llvm::dyn_cast<GlobalVariable>(&value);
    return variable && variable->isConstant() && variable->hasLocalLinkage();
}

/// As symbols of shared libraries are, which may lie at any distance: the objects are placed in memory one by one.
void make_visible(GlobalValue &value) {
    if (!value.hasLocalLinkage() || is_constant(value))
        return;
    if (!value.hasName())
        value.setName("pipe.shared");
    value.setLinkage(GlobalValue::ExternalLinkage);
    value.setDSOLocal(false);
}

/// The share of each function: the largest ones first, each to those that have least.
std::map<const GlobalValue *, int> shares(const llvm::Module &module, int count) {
    std::map<const GlobalValue *, int> result;
    std::vector<size_t> instructions(static_cast<size_t>(count), 0);
    for (const Sized &next : largest_first(module)) {
        const auto least = std::min_element(instructions.begin(), instructions.end());
        *least += next.instructions;
        result[next.function] = static_cast<int>(least - instructions.begin());
    }
    return result;
}

}  // namespace

int shares_of(const llvm::Module &module, int most) {
    const size_t all = module.getInstructionCount();
    const auto functions = largest_first(module);
    const size_t largest = functions.empty() ? 0 : functions[0].instructions;
    // More modules than that would wait for the one with the largest function.
    const size_t useful =
        std::min(all / worth_a_thread, (all + largest / 2) / std::max<size_t>(1, largest));
    return static_cast<int>(std::clamp<size_t>(useful, 1, static_cast<size_t>(std::max(1, most))));
}

std::vector<llvm::SmallVector<char, 0>> share_functions(llvm::Module &module, int most) {
    const int count = shares_of(module, most);
    for (GlobalValue &value : module.global_values())
        make_visible(value);
    const auto share = shares(module, count);
    std::vector<llvm::SmallVector<char, 0>> result(static_cast<size_t>(count));
    for (int i = 0; i < count; i++) {
        llvm::ValueToValueMapTy map;
        const auto part = llvm::CloneModule(module, map, [&](const GlobalValue *value) {
            const auto found = share.find(value);
            return is_constant(*value) || (found == share.end() ? i == 0 : found->second == i);
        });
        llvm::raw_svector_ostream stream(result[static_cast<size_t>(i)]);
        llvm::WriteBitcodeToFile(*part, stream);
    }
    return result;
}

}  // namespace Pipe::codegen
