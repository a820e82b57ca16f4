// Process-wide limits of threads and memory.

#include <pipe/process.h>

#include <fmt/format.h>

#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "jit/runtime/gpu/devices.h"
#include "jit/runtime/runtime.h"
#include "jit/runtime/scratch.h"
#include "support/error_text.h"
#include "support/processors.h"
#include <pipe/memoization_cache.h>

namespace Pipe {

namespace {

void require_not_negative(const char *function, int64_t given) {
    if (given < 0)
        throw RuntimeError(fmt::format("{}({}): give {}.", function,
                                       support::marked(support::Field::Given, given),
                                       support::marked(support::Field::Needed, "at least 0")));
}

}  // namespace

void set_num_threads(int threads) {
    require_not_negative("set_num_threads", threads);
    support::set_thread_limit(threads);
}

int get_num_threads() {
    return runtime::default_threads();
}

void release_memory() {
    runtime::release_scratch();
    runtime::release_device_memory();
    memoization_cache_cleanup();
#ifdef __GLIBC__
    malloc_trim(0);  // memory that the compiler freed
#endif
}

void set_kept_memory(int64_t bytes_per_thread) {
    require_not_negative("set_kept_memory", bytes_per_thread);
    runtime::set_kept_scratch(bytes_per_thread);
}

int64_t get_kept_memory() {
    return runtime::kept_scratch();
}

}  // namespace Pipe
