#pragma once
// Calls of the device of a run, whose failures are recorded in the Context.

#include "jit/runtime/gpu/run.h"
#include "jit/runtime/runtime.h"

namespace Pipe::runtime {

/// Calls f(GPURun) for the answer 0. What it throws is a failure of the run, recorded in the context.
template <typename F> int32_t call_device(Context *context, const F &f) noexcept {
    try {
        f(*context->gpu);
        return 0;
    } catch (const IndicesTooNarrow &error) {
        context->fail(indices_too_narrow, error.what());
        return indices_too_narrow;
    } catch (const std::exception &error) {
        context->fail(device_failed, context->gpu->explain(error.what()));
        return device_failed;
    }
}

}  // namespace Pipe::runtime
