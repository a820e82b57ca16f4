#pragma once
// The function of a Launch. Internal to codegen/.

#include "codegen/stmt_emitter.h"

namespace Pipe::codegen {

/// Emits the kernel into the program's DeviceCode; its number there. Its parameters are what `used` captures: variables,
/// and addresses on the device.
int32_t emit_device_kernel(Unit &host, const ir::StmtNode &launch, const Closure &used,
                           const Frame &outer);

/// The type in which a value becomes a parameter. A bool takes a byte, and narrow integers of a vector are widened to
/// 32 bits: LLVM 19 declares a vector of two bytes with two bytes, but loads two numbers of 16 bits.
inline llvm::Type *parameter_type(llvm::Type *value) {
    const unsigned least = value->isVectorTy() ? 32 : 8;
    const bool narrow = value->isIntOrIntVectorTy() && value->getScalarSizeInBits() < least;
    return narrow ? value->getWithNewBitWidth(least) : value;
}

}  // namespace Pipe::codegen
