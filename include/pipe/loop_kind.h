#pragma once
// How a loop runs and where memory lies: words that schedules and loop nests share.

#include <cstdint>

namespace Pipe {

enum class LoopKind : uint8_t { Serial, Parallel, Vectorized, Unrolled };

enum class MemoryType : uint8_t {
    Auto,      ///< registers or stack where small and constant, else the thread's arena
    Heap,      ///< the thread's arena, whatever the size
    Stack,     ///< the stack; where the size is not constant, the thread's arena
    Register,  ///< the stack, in registers where LLVM finds them; the size must be constant
    // Of other machines; store_in() refuses them.
    GPUShared,
    GPUTexture,
    LockedCache,
    VTCM,
    AMXTile,
};

/// Whether a loop is taken apart into its edges and a middle without clamps and tests.
enum class Partition : uint8_t {
    Auto,    ///< where that pays
    Never,   ///< no
    Always,  ///< wherever there is something to leave out
};

/// What a prefetch does where the region that it asks for ends beyond its Func or image.
enum class PrefetchBoundStrategy : uint8_t {
    Clamp,        ///< prefetch what lies inside, at its edge
    GuardWithIf,  ///< prefetch only what lies inside
    NonFaulting,  ///< prefetch whatever is there: a prefetch never faults
};

}  // namespace Pipe
