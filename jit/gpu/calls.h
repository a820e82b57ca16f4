#pragma once
// What generated code calls for its kernels (codegen/gpu_abi.h).

#include <utility>

#include "jit/gpu/run.h"
#include "jit/runtime.h"

namespace Pipe::jit {

/// Calls f(GPURun) for the answer 0. What it throws is a failure of the run, recorded in the context.
template <typename F> int32_t call_device(Context *context, const F &f) noexcept {
    try {
        f(*context->gpu);
        return 0;
    } catch (const std::exception &error) {
        context->fail(codegen::device_failed, context->gpu->explain(error.what()));
        return codegen::device_failed;
    }
}

int32_t device_open(Context *context, codegen::DeviceBuffer *buffer);
void device_close(Context *context, codegen::DeviceBuffer *buffer);
int32_t device_use(Context *context, codegen::DeviceBuffer *buffer, int32_t access);
int32_t host_use(Context *context, codegen::DeviceBuffer *buffer, int32_t access);
int32_t launch_kernel(Context *context, codegen::GPUModule *module,
                      const codegen::GPULaunch *launch, void *const *params);

}  // namespace Pipe::jit
