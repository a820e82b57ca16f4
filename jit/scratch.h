#pragma once
// The scratch memory of the thread that runs.

#include "jit/arena.h"

namespace Pipe::jit {

/// A thread keeps this much scratch for the next run; more is given back.
inline constexpr int64_t kept_scratch = int64_t(1) << 30;

inline Arena &this_threads_arena() {
    thread_local Arena arena;
    return arena;
}

/// Runs f with the thread's arena, and leaves the arena as it was. Answers f's code; *peak grows by
/// the most scratch that f had in use.
template <typename F> int32_t with_scratch(int64_t *peak, F &&f) {
    Arena &arena = this_threads_arena();
    int64_t mark = arena.mark(), before = arena.used(), outer_peak = arena.peak();
    arena.reset_peak(before);
    int32_t code = f();
    arena.pop_since(mark);
    arena.trim(kept_scratch);
    *peak += arena.peak() - before;
    arena.reset_peak(outer_peak);
    return code;
}

}  // namespace Pipe::jit
