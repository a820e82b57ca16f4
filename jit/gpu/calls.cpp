#include "jit/gpu/calls.h"

namespace Pipe::jit {

int32_t device_open(Context *context, codegen::DeviceBuffer *buffer) {
    return call_device(context, [&](GPURun &run) { run.open(*buffer); });
}

void device_close(Context *context, codegen::DeviceBuffer *buffer) {
    context->gpu->close(*buffer);
}

int32_t device_use(Context *context, codegen::DeviceBuffer *buffer, int32_t access) {
    return call_device(context, [&](GPURun &run) { run.use_on_device(*buffer, access); });
}

int32_t host_use(Context *context, codegen::DeviceBuffer *buffer, int32_t access) {
    return call_device(context, [&](GPURun &run) { run.use_on_host(*buffer, access); });
}

int32_t launch_kernel(Context *context, codegen::GPUModule *module,
                      const codegen::GPULaunch *launch, void *const *params) {
    return call_device(context, [&](GPURun &run) { run.launch(*module, *launch, params); });
}

}  // namespace Pipe::jit
