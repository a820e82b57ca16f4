#pragma once
// What generated code calls while it runs (codegen/abi.h), and what it runs in: the Context.
//
// Parallel loops run on OpenMP. The team always has the same size, because libgomp makes threads
// anew when the size changes. A parallel loop inside another runs on the thread that meets it.
// libgomp's threads spin for some milliseconds after a loop before they sleep, so that the next
// loop starts within a microsecond; where there are more threads than processors, they sleep at
// once. Who wants it otherwise sets OMP_WAIT_POLICY or GOMP_SPINCOUNT, which libgomp reads as it is
// loaded.

#include <atomic>
#include <cstdint>
#include <exception>
#include <mutex>
#include <string>
#include <vector>

#include "jit/abi.h"
#include "jit/profiler.h"
#include <pipe/jit.h>

namespace Pipe::jit {

struct MemoEntry;  // memo_cache.h
class GPURun;      // gpu/run.h

/// One run of a kernel.
struct Context {
    Context(const JITHandlers &h, JITUserContext *u) : handlers(h), user(u) {}
    ~Context();
    Context(const Context &) = delete;

    const JITHandlers &handlers;
    JITUserContext *user;             ///< what handlers are given
    int threads = 1;                  ///< for parallel loops
    int64_t scratch_limit = 0;        ///< bytes per thread; 0 = none
    ProfileEntry *profile = nullptr;  ///< one per Func; null where nobody asked
    uint64_t memo_owner = 0;          ///< whose memoized Funcs are run
    GPURun *gpu = nullptr;            ///< null for targets without kernels for a GPU

    /// The first failure stays: later ones are often its consequences.
    void fail(int32_t code, std::string message);
    bool failed() const { return failed_.load(std::memory_order_relaxed); }
    const std::string &message() const { return message_; }
    /// Of the failure that the message is of. What a kernel answers may be that of another thread,
    /// which only stopped because of it.
    int32_t code() const { return code_; }

    /// Calls a handler. What it throws is kept, and is a failure: no exception may pass through
    /// generated code. False then.
    template <typename F> bool call(const F &handler) noexcept {
        try {
            handler();
            return true;
        } catch (...) {
            keep_exception();
            return false;
        }
    }
    /// Throws again what a handler threw.
    void rethrow() {
        if (thrown_)
            std::rethrow_exception(thrown_);
    }

    /// Memory by custom_malloc, 64-byte aligned; null where it has none.
    void *custom_allocate(int64_t bytes);
    void custom_release(void *memory);

    /// An entry of the cache that the run uses now: one that it does not let go of, because it
    /// fails, is released at its end.
    void hold(MemoEntry *entry);
    void let_go(MemoEntry *entry);

  private:
    void keep_exception() noexcept;

    std::atomic<bool> failed_{false};
    std::mutex mutex_;
    std::string message_;
    int32_t code_ = 0;
    std::exception_ptr thrown_;
    struct Block;
    Block *blocks_ = nullptr;  ///< what custom_malloc gave and has not been freed
    std::vector<MemoEntry *> memos_;
};

/// A function that generated code may call, by the name it has there.
struct RuntimeSymbol {
    const char *name;
    void *address;
};
const std::vector<RuntimeSymbol> &runtime_symbols();

/// What generated code calls for an event of a traced pipeline (trace.cpp), and to print.
int32_t trace(Context *context, const TraceEvent *event);
void print(Context *context, const char *text);

/// Runs a kernel on this thread and OpenMP's. The scratch of every thread is as before afterwards,
/// also after a failure. *peak_bytes: the most scratch that was in use, over all threads.
int32_t run_kernel(codegen::KernelFunction *kernel, Context &context, void *const *args,
                   int64_t *peak_bytes);

/// The number of threads of a parallel loop where the call says nothing else: <pipe/process.h>.
int default_threads();

}  // namespace Pipe::jit
