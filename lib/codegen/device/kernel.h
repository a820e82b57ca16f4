#pragma once
// The function of a Launch. Internal to the LLVM room.

#include "codegen/stmt_emitter.h"

namespace Pipe::codegen {

/// Emits the kernel into the program's DeviceCode; its number there. Its parameters are what `used` captures: variables,
/// and addresses on the device.
int32_t emit_device_kernel(Unit &host, const ir::StmtNode &launch, const Closure &used,
                           const Frame &outer);

}  // namespace Pipe::codegen
