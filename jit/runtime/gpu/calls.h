#pragma once
// What generated code calls for its kernels (jit/runtime/gpu_abi.h).

#include <utility>

#include "jit/runtime/gpu/run.h"
#include "jit/runtime/runtime.h"

namespace Pipe::runtime {

/// Calls f(GPURun) for the answer 0. What it throws is a failure of the run, recorded in the context.
template <typename F> int32_t call_device(Context *context, const F &f) noexcept {
    try {
        f(*context->gpu);
        return 0;
    } catch (const std::exception &error) {
        context->fail(device_failed, context->gpu->explain(error.what()));
        return device_failed;
    }
}

int32_t device_open(Context *context, DeviceBuffer *buffer);
void device_close(Context *context, DeviceBuffer *buffer);
int32_t device_use(Context *context, DeviceBuffer *buffer, int32_t access);
int32_t host_use(Context *context, DeviceBuffer *buffer, int32_t access);
int32_t device_submit(Context *context);
int32_t launch_kernel(Context *context, GPUModule *module, const GPULaunch *launch,
                      void *const *params);

}  // namespace Pipe::runtime
