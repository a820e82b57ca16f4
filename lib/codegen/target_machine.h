#pragma once
// LLVM's view of a Target. Internal to the LLVM room.

#include <memory>

#include <llvm/Target/TargetMachine.h>

#include <pipe/target.h>

namespace Pipe::codegen {

/// Starts the part of LLVM that the target needs (once), and describes the processor to it. For the
/// very machine at hand: with all that its processor has, tuned for it.
std::unique_ptr<llvm::TargetMachine> make_target_machine(const Target &target);

}  // namespace Pipe::codegen
