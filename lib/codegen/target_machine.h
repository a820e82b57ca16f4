#pragma once
// LLVM's TargetMachine for a Target. Internal to codegen/.

#include <memory>

#include <llvm/Target/TargetMachine.h>

#include <pipe/target.h>

namespace Pipe::codegen {

/// Initializes the LLVM target (once), and describes the processor to it. For the host: with all
/// features of its processor, and tuned for it.
std::unique_ptr<llvm::TargetMachine> make_target_machine(const Target &target);

}  // namespace Pipe::codegen
