#pragma once
// How a loop runs and where memory lies: words that schedules and loop nests share.

#include <cstdint>

namespace Pipe {

enum class LoopKind : uint8_t { Serial, Parallel, Vectorized, Unrolled };

enum class MemoryType : uint8_t {
    Auto,      ///< registers or stack where small and constant, else the thread's arena
    Heap,
    Stack,
    Register,
};

}  // namespace Pipe
