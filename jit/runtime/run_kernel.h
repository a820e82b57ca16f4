#pragma once
// Runs a kernel, wherever its code comes from.

#include <cstdint>
#include <string>
#include <vector>

#include "jit/runtime/abi.h"
#include "jit/runtime/profiled_func.h"
#include <pipe/jit.h>
#include <pipe/target.h>

namespace Pipe::runtime {

class Profile;

struct RunOptions {
    int threads = 0;            ///< for parallel loops; 0 = default_threads()
    int64_t scratch_limit = 0;  ///< maximum scratch memory per thread in bytes; 0 = no limit
    JITUserContext *context = nullptr;  ///< passed to handlers
    JITHandlers handlers = {};          ///< those of `context` are ignored
    uint64_t memo_owner = 0;     ///< kernels with the same owner and name share memoized entries
    Profile *profile = nullptr;  ///< accumulates measurements; Target::Profile only
};

/// Prints text with custom_print, or to standard output.
void print(const RunOptions &options, const std::string &text);

/// Overrides *handlers by those of `first` that are set.
void put_before(const JITHandlers &first, JITHandlers *handlers);

struct RunStats {
    int64_t peak_scratch_bytes = 0;  ///< sum of the peaks of all threads (without stacks)
};

/// What has to be known of compiled code to run it.
struct KernelCode {
    KernelFunction *function;
    const Target &target;
    const std::vector<ProfiledFunc> &profiled;  ///< empty without the feature Profile
};

/// See jit::Kernel::run.
int run_kernel(const KernelCode &code, const RunOptions &options, void *const *args,
               std::string *error, RunStats *stats = nullptr);

}  // namespace Pipe::runtime
