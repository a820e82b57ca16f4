// Until there is an emulator.

#include "jit/gpu/emulator.h"

#include <pipe/error.h>

namespace Pipe::jit {

Device &emulated_device() {
    throw RuntimeError("Kernels cannot be emulated yet.");
}

}  // namespace Pipe::jit
