#pragma once
// The kernels of a program under construction. Internal to codegen/.
//
// For a GPU they are functions of a module of their own, which becomes PTX; for the emulator, functions of the host's
// module, whose accesses and barriers call the emulator. Code of the host launches them through a GPUModule
// (jit/runtime/gpu_abi.h), a constant of its module.

#include <memory>
#include <set>
#include <string>
#include <unordered_set>
#include <vector>

#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>

#include "codegen/frame.h"
#include "ir/program.h"
#include "jit/runtime/gpu_abi.h"

namespace Pipe::codegen {

struct DeviceKernel {
    std::string name;
    llvm::Function *function;
    int64_t static_shared_bytes;
};

struct DeviceSite {
    std::string buffer;
    runtime::GPUSite::Kind kind;
    runtime::GPUSite::Memory memory;
    int32_t element_bytes;  ///< 0: a barrier
};

/// The kernels of one program.
struct DeviceCode {
    /// Nothing where the program has no kernels, and no buffers that may have memory on a device.
    static std::unique_ptr<DeviceCode> of(const ir::Program &program, const Target &target,
                                          llvm::Module &host);

    const bool emulated;
    const Target target;            ///< of the code in kernels: vectors of 16 bytes, no masks
    std::set<std::string> buffers;  ///< that may have memory on the device
    /// The outermost loops of the host without launches, of a program that has some for a GPU.
    std::unordered_set<const ir::StmtNode *> host_loops;
    std::unique_ptr<llvm::TargetMachine> machine;  ///< null where they are emulated
    std::unique_ptr<llvm::Module> own_module;      ///< null where they are emulated
    llvm::Module &module;
    llvm::GlobalVariable *description;  ///< the GPUModule
    std::vector<DeviceKernel> kernels;
    std::vector<DeviceSite> sites;

    /// Whether indices in kernels have 32 bits (Frame::narrow_indices).
    bool has_narrow_indices() const { return !target.has_feature(Target::LargeBuffers); }
    /// Its number.
    int32_t add_site(const DeviceSite &site);
    /// Optimizes the kernels, makes PTX of them, and fills in the GPUModule. The PTX; "" where they are emulated.
    std::string finish(llvm::Module &host, const std::string &pipeline);

  private:
    DeviceCode(const ir::Program &program, const Target &target, llvm::Module &host);
    std::string ptx(const std::string &pipeline);
};

/// The processor of LLVM's NVPTX back end: "sm_80".
std::string sm_of(const Target &target);

}  // namespace Pipe::codegen
