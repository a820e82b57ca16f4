#pragma once
// The spelling of schedule enums in C++.

#include <pipe/schedule.h>

namespace Pipe::schedules {

/// "GuardWithIf"
const char *to_string(TailStrategy tail);
/// The directive that produces such a loop: "parallel", "vectorize", "gpu_blocks", "serial".
const char *to_string(LoopKind kind);
/// "Heap"
const char *to_string(MemoryType memory);
/// "Never"
const char *to_string(Partition partition);
/// "AlignStart"
const char *to_string(LoopAlignStrategy align);
/// "CUDA"
const char *to_string(DeviceAPI api);
/// The directive.
const char *to_string(CopiedTo memory);
/// "Clamp"
const char *to_string(PrefetchBoundStrategy strategy);

}  // namespace Pipe::schedules
