#pragma once
// The Context in which generated code runs. The functions that it calls are declared in jit/runtime/abi.h and gpu_abi.h.
//
// Parallel loops run on OpenMP. The team always has the same size, because libgomp recreates its
// threads when the size changes. libgomp's threads spin for some milliseconds after a loop before
// they sleep, so that the next loop starts within a microsecond; if there are more threads than
// processors, they sleep at once. This can be changed with OMP_WAIT_POLICY or GOMP_SPINCOUNT, which
// libgomp reads when it is loaded.

#include <atomic>
#include <cstdint>
#include <exception>
#include <mutex>
#include <string>
#include <vector>

#include "jit/runtime/abi.h"
#include "jit/runtime/profiler.h"
#include <pipe/jit.h>

namespace Pipe::runtime {

struct MemoEntry;  // memo_cache.h
class GPURun;      // gpu/run.h

/// One run of a kernel.
struct Context {
    Context(const JITHandlers &h, JITUserContext *u) : handlers(h), user(u) {}
    ~Context();
    Context(const Context &) = delete;

    const JITHandlers &handlers;
    JITUserContext *user;             ///< passed to handlers
    int threads = 1;                  ///< for parallel loops
    int64_t scratch_limit = 0;        ///< bytes per thread; 0 = none
    ProfileEntry *profile = nullptr;  ///< one per Func; null if not profiled
    uint64_t memo_owner = 0;          ///< identifies the owner of memoized entries
    GPURun *gpu = nullptr;            ///< null for targets without kernels for a GPU

    /// The first failure is kept: later ones are often its consequences.
    void fail(int32_t code, std::string message);
    bool failed() const { return failed_.load(std::memory_order_relaxed); }
    const std::string &message() const { return message_; }
    /// The error code that belongs to the message. The kernel's return value may be that of another
    /// thread, which stopped because of it.
    int32_t code() const { return code_; }

    /// Calls a handler. Exceptions are kept and count as failures, because they must not propagate
    /// through generated code. Returns false in this case.
    template <typename F> bool call(const F &handler) noexcept {
        try {
            handler();
            return true;
        } catch (...) {
            keep_exception();
            return false;
        }
    }
    /// Rethrows an exception of a handler.
    void rethrow() {
        if (thrown_)
            std::rethrow_exception(thrown_);
    }

    /// Memory from custom_malloc, 64-byte aligned; null if there is none.
    void *custom_allocate(int64_t bytes);
    void custom_release(void *memory);

    /// Records a memoized entry that the run uses: if the run fails, the entry is released at its
    /// end.
    void hold(MemoEntry *entry);
    void release_entry(MemoEntry *entry);

  private:
    void keep_exception() noexcept;

    std::atomic<bool> failed_{false};
    std::mutex mutex_;
    std::string message_;
    int32_t code_ = 0;
    std::exception_ptr thrown_;
    struct Block;
    Block *blocks_ = nullptr;  ///< allocated by custom_malloc and not yet freed
    std::vector<MemoEntry *> memos_;
};

/// Prints by custom_print, or on stdout.
void print(Context *context, const char *text);

/// Runs a kernel on this thread and OpenMP's. Afterward, the scratch of every thread is as before,
/// also after a failure. *peak_bytes: the maximum scratch in use, over all threads.
int32_t run_on_threads(KernelFunction *kernel, Context &context, void *const *args,
                       int64_t *peak_bytes);

/// The default number of threads of a parallel loop: <pipe/process.h>.
int default_threads();
/// More are never used: libgomp describes them on the stack of the thread that starts them.
inline constexpr int most_threads = 4096;

}  // namespace Pipe::runtime
