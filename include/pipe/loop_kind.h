#pragma once
// Kinds of loops and of memory, used by schedules and loop nests.

#include <cstdint>

namespace Pipe {

enum class LoopKind : uint8_t {
    Serial,
    Parallel,
    Vectorized,
    Unrolled,
    GPUBlock,
    GPUThread,
    GPULane,
};

constexpr bool is_gpu(LoopKind kind) {
    return kind >= LoopKind::GPUBlock;
}

/// Whether several threads run the iterations: Parallel, and all of a GPU.
constexpr bool is_threaded(LoopKind kind) {
    return kind == LoopKind::Parallel || is_gpu(kind);
}
/// Whether iterations may run concurrently or in any order.
constexpr bool is_unordered(LoopKind kind) {
    return kind == LoopKind::Vectorized || is_threaded(kind);
}
/// Whether every iteration becomes code of its own (a lane, or a copy of the body): the extent must be constant.
constexpr bool needs_constant_extent(LoopKind kind) {
    return kind == LoopKind::Vectorized || kind == LoopKind::Unrolled;
}
/// Whether it remains a loop in code of the host: Serial and Parallel.
constexpr bool is_host_loop(LoopKind kind) {
    return !needs_constant_extent(kind) && !is_gpu(kind);
}

enum class MemoryType : uint8_t {
    // On the host. (Arena: scratch memory of the thread, kept between runs.) In a kernel, Auto is
    // shared memory, or per-thread memory where each thread accesses only its own elements; Heap is
    // global memory; Stack and Register are per-thread memory.
    Auto,        ///< registers or stack if small and constant, else the thread's arena
    Heap,        ///< the thread's arena, whatever the size
    Stack,       ///< the stack; if the size is not constant, the thread's arena
    Register,    ///< registers, as far as LLVM can promote it, else the stack; constant size only
    GPUShared,   ///< shared memory of a thread block; CompileError for targets without kernels
    GPUTexture,  ///< not supported: CompileError
    // Memories of other targets: store_in() rejects them.
    LockedCache,
    VTCM,
    AMXTile,
};

/// Whether a loop is partitioned into its boundary and an interior without clamps and tests.
enum class Partition : uint8_t {
    Auto,  ///< if worthwhile
    Never,
    Always,  ///< whenever a clamp or test can be removed
};

/// What a prefetch does if its region extends beyond the Func or image.
enum class PrefetchBoundStrategy : uint8_t {
    Clamp,        ///< clamps the region to the bounds
    GuardWithIf,  ///< prefetches only inside the bounds
    NonFaulting,  ///< prefetches any address: a prefetch never faults
};

}  // namespace Pipe
