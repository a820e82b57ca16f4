#include "codegen/target_machine.h"

#include <mutex>

#include <llvm/ADT/StringMap.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/TargetParser/Host.h>

#include "support/target.h"
#include <pipe/error.h>

namespace Pipe::codegen {

namespace {

/// Initializes only the required target: initializing all targets of LLVM would take several times
/// as long.
void start_llvm(Target::Arch arch) {
    static std::once_flag x86, aarch64;
    if (arch == Target::X86) {
        std::call_once(x86, [] {
            LLVMInitializeX86TargetInfo();
            LLVMInitializeX86Target();
            LLVMInitializeX86TargetMC();
            LLVMInitializeX86AsmPrinter();
        });
    } else {
        std::call_once(aarch64, [] {
            LLVMInitializeAArch64TargetInfo();
            LLVMInitializeAArch64Target();
            LLVMInitializeAArch64TargetMC();
            LLVMInitializeAArch64AsmPrinter();
        });
    }
}

std::string triple_of(const Target &target) {
    std::string arch = target.arch == Target::X86 ? "x86_64" : "aarch64";
    return arch + (target.os == Target::OSX ? "-apple-macosx" : "-unknown-linux-gnu");
}

std::string feature_string(const Target &target) {
    struct Entry {
        Target::Feature feature;
        const char *names;
    };
    static const Entry table[] = {
        {Target::SSE41, "+sse4.1,+ssse3,"},
        {Target::AVX, "+avx,+popcnt,"},
        {Target::AVX2, "+avx2,+bmi,+bmi2,+lzcnt,"},
        {Target::FMA, "+fma,"},
        {Target::F16C, "+f16c,"},
        {Target::FMA4, "+fma4,"},
        {Target::AVXVNNI, "+avxvnni,"},
        {Target::AVX512, "+avx512f,+avx512cd,+evex512,"},
        {Target::AVX512_Skylake, "+avx512bw,+avx512dq,+avx512vl,"},
        {Target::AVX512_Cannonlake, "+avx512ifma,+avx512vbmi,"},
        {Target::AVX512_Zen4,
         "+avx512vbmi2,+avx512vnni,+avx512bitalg,+avx512vpopcntdq,+avx512bf16,"},
        {Target::AVX512_Zen5, "+avx512vp2intersect,"},
        {Target::AVX512_SapphireRapids, "+avx512fp16,"},
        {Target::ARMDotProd, "+dotprod,"},
        {Target::ARMFp16, "+fullfp16,"},
    };
    std::string features;
    for (const Entry &e : table) {
        if (target.has_feature(e.feature))
            features += e.names;
    }
    if (!features.empty())
        features.pop_back();
    return features;
}

/// LLVM's name of the host's processor, and all its features.
struct Processor {
    std::string name, features;
};

const Processor &host_processor() {
    static const Processor host = [] {
        Processor p{llvm::sys::getHostCPUName().str(), ""};
        for (const auto &feature : llvm::sys::getHostCPUFeatures()) {
            if (feature.second)
                p.features += "+" + feature.first().str() + ",";
        }
        if (!p.features.empty())
            p.features.pop_back();
        return p;
    }();
    return host;
}

}  // namespace

std::unique_ptr<llvm::TargetMachine> make_target_machine(const Target &target) {
    if (std::string why = support::unsupported_reason(target); !why.empty())
        throw CompileError(why);
    start_llvm(target.arch);
    std::string triple = triple_of(target), message;
    const llvm::Target *llvm_target = llvm::TargetRegistry::lookupTarget(triple, message);
    if (!llvm_target)
        throw CompileError("This LLVM cannot compile for " + triple + ": " + message);

    bool is_host = target.machine() == Target("host").machine();
    Processor processor = is_host ? host_processor() : Processor{"", feature_string(target)};
    llvm::TargetOptions options;
    options.AllowFPOpFusion = llvm::FPOpFusion::Standard;
    bool quick = target.has_feature(Target::QuickCompile);
    return std::unique_ptr<llvm::TargetMachine>(llvm_target->createTargetMachine(
        triple, processor.name, processor.features, options, llvm::Reloc::PIC_,
        llvm::CodeModel::Small,
        quick ? llvm::CodeGenOptLevel::None : llvm::CodeGenOptLevel::Aggressive));
}

}  // namespace Pipe::codegen
