#include "jit/runtime/abi_functions.h"

#include <algorithm>

#include "jit/runtime/gpu_abi.h"

#include <pipe/error.h>

namespace Pipe::runtime {

namespace {

template <typename F> AbiFunction entry(const char *name, F *function) {
    return {name, reinterpret_cast<void *>(function)};
}

}  // namespace

#define PIPE_FUNCTION(name) entry(#name, name)

const std::vector<AbiFunction> &abi_functions() {
    static const std::vector<AbiFunction> all = {
        PIPE_FUNCTION(pipe_parallel_for),
        PIPE_FUNCTION(pipe_scratch_push),
        PIPE_FUNCTION(pipe_scratch_pop),
        PIPE_FUNCTION(pipe_user_context),
        PIPE_FUNCTION(pipe_call_pipeline),
        PIPE_FUNCTION(pipe_trace),
        PIPE_FUNCTION(pipe_profile_slot),
        PIPE_FUNCTION(pipe_profile_table),
        PIPE_FUNCTION(pipe_profile_allocated),
        PIPE_FUNCTION(pipe_profile_freed),
        PIPE_FUNCTION(pipe_fork),
        PIPE_FUNCTION(pipe_semaphore_open),
        PIPE_FUNCTION(pipe_semaphore_close),
        PIPE_FUNCTION(pipe_semaphore_acquire),
        PIPE_FUNCTION(pipe_semaphore_release),
        PIPE_FUNCTION(pipe_lock_enter),
        PIPE_FUNCTION(pipe_lock_leave),
        PIPE_FUNCTION(pipe_memo_open),
        PIPE_FUNCTION(pipe_memo_store),
        PIPE_FUNCTION(pipe_memo_close),
        PIPE_FUNCTION(pipe_out_of_memory),
        PIPE_FUNCTION(pipe_print),
        PIPE_FUNCTION(pipe_fail),
        PIPE_FUNCTION(pipe_device_open),
        PIPE_FUNCTION(pipe_device_close),
        PIPE_FUNCTION(pipe_device_use),
        PIPE_FUNCTION(pipe_host_use),
        PIPE_FUNCTION(pipe_launch),
        PIPE_FUNCTION(pipe_device_submit),
        PIPE_FUNCTION(pipe_emulator_barrier),
        PIPE_FUNCTION(pipe_emulator_access),
    };
    return all;
}

const char *name_of(void *address) {
    const std::vector<AbiFunction> &all = abi_functions();
    auto found = std::find_if(all.begin(), all.end(),
                              [&](const AbiFunction &f) { return f.address == address; });
    if (found == all.end())
        throw InternalError("a function of the run time that abi_functions() does not have");
    return found->name;
}

}  // namespace Pipe::runtime
