#include "jit/runtime/gpu/calls.h"

namespace Pipe::runtime {

int32_t pipe_device_open(Context *context, DeviceBuffer *buffer) {
    return call_device(context, [&](GPURun &run) { run.open(*buffer); });
}

void pipe_device_close(Context *context, DeviceBuffer *buffer) {
    context->gpu->close(*buffer);
}

int32_t pipe_device_use(Context *context, DeviceBuffer *buffer, int32_t access) {
    return call_device(context, [&](GPURun &run) { run.use_on_device(*buffer, access); });
}

int32_t pipe_host_use(Context *context, DeviceBuffer *buffer, int32_t access) {
    return call_device(context, [&](GPURun &run) { run.use_on_host(*buffer, access); });
}

int32_t pipe_device_submit(Context *context) {
    return call_device(context, [](GPURun &run) { run.submit(); });
}

int32_t pipe_launch(Context *context, GPUModule *module, const GPULaunch *launch,
                    void *const *params) {
    return call_device(context, [&](GPURun &run) { run.launch(*module, *launch, params); });
}

}  // namespace Pipe::runtime
