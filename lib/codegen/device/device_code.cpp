#include "codegen/device/device_code.h"

#include <mutex>

#include <llvm/ADT/StringMap.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Support/TargetSelect.h>

#include "codegen/device/early_loads.h"
#include "codegen/device/math_library.h"
#include "codegen/optimize.h"
#include "ir/visit.h"

namespace Pipe::codegen {

namespace {

struct Capability {
    Target::Feature feature;
    const char *sm;
};
constexpr Capability capabilities[] = {
    {Target::CUDACapability90, "sm_90"}, {Target::CUDACapability89, "sm_89"},
    {Target::CUDACapability86, "sm_86"}, {Target::CUDACapability80, "sm_80"},
    {Target::CUDACapability75, "sm_75"}, {Target::CUDACapability70, "sm_70"},
    {Target::CUDACapability61, "sm_61"}, {Target::CUDACapability50, "sm_50"},
};

std::unique_ptr<llvm::TargetMachine> make_gpu_machine(const Target &target) {
    static std::once_flag started;
    std::call_once(started, [] {
        LLVMInitializeNVPTXTargetInfo();
        LLVMInitializeNVPTXTarget();
        LLVMInitializeNVPTXTargetMC();
        LLVMInitializeNVPTXAsmPrinter();
    });
    const std::string triple = "nvptx64-nvidia-cuda";
    std::string message;
    const llvm::Target *nvptx = llvm::TargetRegistry::lookupTarget(triple, message);
    if (!nvptx)
        throw CompileError("This LLVM cannot compile for NVIDIA GPUs: " + message);
    llvm::TargetOptions options;
    options.AllowFPOpFusion = target.has_feature(Target::StrictFloat) ? llvm::FPOpFusion::Strict
                                                                      : llvm::FPOpFusion::Standard;
    const bool quick = target.has_feature(Target::QuickCompile);
    return std::unique_ptr<llvm::TargetMachine>(nvptx->createTargetMachine(
        triple, sm_of(target), "", options, std::nullopt, std::nullopt,
        quick ? llvm::CodeGenOptLevel::None : llvm::CodeGenOptLevel::Aggressive));
}

/// Code in kernels is for no CPU: none of its features count.
Target kernel_target(const Target &target) {
    Target result = target;
    result.arch = Target::ArchUnknown;
    for (size_t f = 0; f < Target::FeatureEnd; f++) {
        const auto feature = static_cast<Target::Feature>(f);
        const bool keeps = feature == Target::FastMath || feature == Target::StrictFloat ||
                           feature == Target::QuickCompile || feature == Target::LargeBuffers ||
                           Target::feature_to_name(feature).starts_with("cuda");
        if (!keeps)
            result.features.reset(f);
    }
    return result;
}

std::set<std::string> buffers_on_device(const ir::Stmt &program) {
    std::set<std::string> names;
    ir::walk(
        program,
        [&](const ir::Stmt &s) {
            if (s->op == ir::StmtOp::Use)
                names.insert(s->name);
            return true;
        },
        [](const Expr &) { return false; });
    return names;
}

bool is_launch(const ir::StmtNode &s) {
    return s.op == ir::StmtOp::Launch;
}

void find_host_loops(const ir::Stmt &s, std::unordered_set<const ir::StmtNode *> &found) {
    if (!s.defined() || is_launch(*s.get()))
        return;
    if (s->op == ir::StmtOp::For && !ir::contains_stmt(s, is_launch)) {
        found.insert(s.get());
        return;
    }
    for (const ir::Stmt &child : s->stmts)
        find_host_loops(child, found);
}

}  // namespace

std::string sm_of(const Target &target) {
    for (const Capability &c : capabilities)
        if (target.has_feature(c.feature))
            return c.sm;
    return "sm_75";  // the oldest that CUDA 13 knows: later ones run it, too
}

std::unique_ptr<DeviceCode> DeviceCode::of(const ir::Program &program, const Target &target,
                                           llvm::Module &host) {
    const bool uses_device = ir::contains_stmt(program.body, [](const ir::StmtNode &s) {
        return s.op == ir::StmtOp::Launch || s.op == ir::StmtOp::Use;
    });
    if (!uses_device)
        return nullptr;
    return std::unique_ptr<DeviceCode>(new DeviceCode(program, target, host));
}

DeviceCode::DeviceCode(const ir::Program &program, const Target &given, llvm::Module &host)
    : emulated(given.has_feature(Target::CUDAEmulator)), target(kernel_target(given)),
      buffers(buffers_on_device(program.body)),
      machine(emulated ? nullptr : make_gpu_machine(given)),
      own_module(emulated ? nullptr
                          : std::make_unique<llvm::Module>(program.name, host.getContext())),
      module(emulated ? host : *own_module) {
    if (machine) {
        if (ir::contains_stmt(program.body, is_launch))
            find_host_loops(program.body, host_loops);
        module.setTargetTriple(machine->getTargetTriple().str());
        module.setDataLayout(machine->createDataLayout());
    }
    auto *type =
        llvm::ArrayType::get(llvm::Type::getInt8Ty(host.getContext()), sizeof(runtime::GPUModule));
    description = new llvm::GlobalVariable(host, type, false, llvm::GlobalValue::ExternalLinkage,
                                           nullptr, "pipe.description");
}

int32_t DeviceCode::add_site(const DeviceSite &site) {
    sites.push_back(site);
    return static_cast<int32_t>(sites.size()) - 1;
}

std::string DeviceCode::ptx(const std::string &pipeline) {
    link_device_math(module, pipeline);
    optimize(module, *machine, target);
    move_loads_before_divisions(module);
    auto bytes = generate(module, *machine, llvm::CodeGenFileType::AssemblyFile);
    return {bytes.begin(), bytes.end()};
}

namespace {

/// Constants of structs in gpu_abi.h.
class Constants {
  public:
    explicit Constants(llvm::Module &module) : module_(module), context_(module.getContext()) {}

    llvm::Constant *text(const std::string &s) {
        return global(llvm::ConstantDataArray::getString(context_, s, /*AddNull=*/true), 1);
    }
    llvm::Constant *number(unsigned bits, int64_t value) {
        return llvm::ConstantInt::get(llvm::IntegerType::get(context_, bits),
                                      static_cast<uint64_t>(value));
    }
    llvm::Constant *null() {
        return llvm::ConstantPointerNull::get(llvm::PointerType::get(context_, 0));
    }
    llvm::Constant *record(const std::vector<llvm::Constant *> &fields) {
        return llvm::ConstantStruct::getAnon(context_, fields);
    }
    /// The address of an array of records.
    llvm::Constant *array(const std::vector<llvm::Constant *> &records) {
        if (records.empty())
            return null();
        auto *type = llvm::ArrayType::get(records[0]->getType(), records.size());
        return global(llvm::ConstantArray::get(type, records), 8);
    }

  private:
    llvm::Constant *global(llvm::Constant *value, uint64_t alignment) {
        auto *variable = new llvm::GlobalVariable(
            module_, value->getType(), true, llvm::GlobalValue::PrivateLinkage, value, "pipe.gpu");
        variable->setAlignment(llvm::Align(alignment));
        return variable;
    }

    llvm::Module &module_;
    llvm::LLVMContext &context_;
};

}  // namespace

std::string DeviceCode::finish(llvm::Module &host, const std::string &pipeline) {
    const std::string text = emulated || kernels.empty() ? "" : ptx(pipeline);
    Constants c(host);
    std::vector<llvm::Constant *> kernel_records, site_records;
    for (const DeviceKernel &k : kernels)
        kernel_records.push_back(c.record(
            {c.text(k.name), emulated ? static_cast<llvm::Constant *>(k.function) : c.null(),
             c.number(64, k.static_shared_bytes)}));
    for (const DeviceSite &s : sites)
        site_records.push_back(
            c.record({s.buffer.empty() ? c.null() : c.text(s.buffer), c.number(32, s.kind),
                      c.number(32, s.memory), c.number(32, s.element_bytes)}));
    // in the order of GPUModule
    llvm::Constant *value = c.record(
        {c.text(pipeline), emulated ? c.null() : c.text(text),
         c.number(64, static_cast<int64_t>(text.size())), c.array(kernel_records),
         c.number(32, static_cast<int64_t>(kernels.size())),
         c.number(32, static_cast<int64_t>(sites.size())), c.array(site_records), c.null()});
    auto *filled =
        new llvm::GlobalVariable(host, value->getType(), false, llvm::GlobalValue::ExternalLinkage,
                                 value, runtime::gpu_module_symbol);
    filled->setAlignment(llvm::Align(8));
    description->replaceAllUsesWith(filled);
    description->eraseFromParent();
    description = filled;
    return text;
}

}  // namespace Pipe::codegen
