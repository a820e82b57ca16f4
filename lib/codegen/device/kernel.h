#pragma once
// The function of a Launch. Internal to codegen/.

#include "codegen/stmt_emitter.h"

namespace Pipe::codegen {

/// Emits the kernel into the program's DeviceCode; its number there. Its parameters are what `used` captures: variables,
/// and addresses on the device.
int32_t emit_device_kernel(Unit &host, const ir::StmtNode &launch, const Closure &used,
                           const Frame &outer);

/// The type in which a value becomes a parameter. Bools take a byte each, those of a vector, too: LLVM 19 declares a
/// parameter of bits, but loads it as bytes.
inline llvm::Type *parameter_type(llvm::Type *value) {
    return value->isIntOrIntVectorTy(1) ? value->getWithNewBitWidth(8) : value;
}

}  // namespace Pipe::codegen
