#include "codegen/device/math_library.h"

#include <filesystem>

#include <llvm/IR/DiagnosticInfo.h>
#include <llvm/IRReader/IRReader.h>
#include <llvm/Linker/Linker.h>
#include <llvm/Support/SourceMgr.h>

#include "codegen/arith.h"
#include "support/env.h"

namespace Pipe::codegen {

using llvm::Value;

namespace {

constexpr const char *library_file = "nvptx64--.bc";

/// "" where it is not installed.
std::string find_library() {
    std::vector<std::string> folders{"/usr/lib/clc", "/usr/share/clc", "/usr/local/lib/clc",
                                     "/usr/local/share/clc"};
    if (const std::string own = support::env("PIPE_LIBCLC"); !own.empty())
        folders = {own};
    for (const std::string &folder : folders)
        if (std::filesystem::exists(folder + "/" + library_file))
            return folder + "/" + library_file;
    return "";
}

/// As OpenCL compilers name the function: "_Z3powff".
std::string mangled(const std::string &function, Type type, size_t arguments) {
    return "_Z" + std::to_string(function.size()) + function +
           std::string(arguments, type.bits() == 32 ? 'f' : 'd');
}

/// "pow" of "_Z3powff".
std::string plain(const std::string &name) {
    size_t begin = 2, length = 0;
    while (begin < name.size() && isdigit(static_cast<unsigned char>(name[begin])))
        length = length * 10 + static_cast<size_t>(name[begin++] - '0');
    return name.substr(begin, length);
}

std::vector<std::string> missing_functions(const llvm::Module &kernels) {
    std::vector<std::string> names;
    for (const llvm::Function &f : kernels)
        if (f.isDeclaration() && f.getName().starts_with("_Z"))
            names.push_back(f.getName().str());
    return names;
}

}  // namespace

Value *emit_device_math(Builder &b, llvm::Module &kernels, Type type, const std::string &function,
                        const std::vector<Value *> &args) {
    llvm::Type *scalar = register_type(b.getContext(), type.element_of());
    const std::vector<llvm::Type *> parameters(args.size(), scalar);
    auto callee = kernels.getOrInsertFunction(mangled(function, type, args.size()),
                                              llvm::FunctionType::get(scalar, parameters, false));
    return lane_by_lane(b, args, type.lanes(), [&](const std::vector<Value *> &lane) -> Value * {
        llvm::CallInst *call = b.CreateCall(callee, lane);
        call->setDoesNotAccessMemory();
        call->setDoesNotThrow();
        call->addFnAttr(llvm::Attribute::WillReturn);
        return call;
    });
}

void link_device_math(llvm::Module &kernels, const std::string &pipeline) {
    const std::vector<std::string> needed = missing_functions(kernels);
    if (needed.empty())
        return;
    const std::string file = find_library();
    if (file.empty())
        throw CompileError(pipeline + ": a kernel calls " + plain(needed[0]) +
                           "(), whose code for GPUs is in libclc, which is not installed: no " +
                           library_file +
                           " in /usr/lib/clc or /usr/share/clc. Install it (Debian: libclc-19), or "
                           "name its folder in "
                           "the environment variable PIPE_LIBCLC.");
    llvm::SMDiagnostic problem;
    std::unique_ptr<llvm::Module> library =
        llvm::getLazyIRFileModule(file, problem, kernels.getContext());
    if (!library)
        throw CompileError(pipeline + ": " + file +
                           " cannot be read: " + problem.getMessage().str());
    for (const std::string &name : needed)
        if (!library->getFunction(name))
            throw CompileError(pipeline + ": a kernel calls " + plain(name) +
                               "(), which is not among the functions for GPUs. Compute the Func "
                               "that calls it outside of "
                               "the kernel.");
    library->setTargetTriple(kernels.getTargetTriple());
    library->setDataLayout(kernels.getDataLayout());
    std::vector<std::string> own;
    for (const llvm::Function &f : kernels)
        if (!f.isDeclaration())
            own.push_back(f.getName().str());
    if (llvm::Linker::linkModules(kernels, std::move(library), llvm::Linker::LinkOnlyNeeded))
        throw CompileError(pipeline + ": " + file + " cannot be linked to kernels.");
    for (llvm::Function &f : kernels) {
        if (f.isDeclaration() || std::find(own.begin(), own.end(), f.getName()) != own.end())
            continue;
        f.setLinkage(llvm::GlobalValue::InternalLinkage);
        f.removeFnAttr(llvm::Attribute::NoInline);
        f.removeFnAttr(llvm::Attribute::OptimizeNone);
        f.addFnAttr(llvm::Attribute::AlwaysInline);
    }
}

}  // namespace Pipe::codegen
