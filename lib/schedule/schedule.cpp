#include <pipe/schedule.h>

#include "schedule/print.h"

namespace Pipe::schedules {

bool LoopLevel::operator==(const LoopLevel &other) const {
    if (kind != other.kind)
        return false;
    return kind != Kind::At || (func == other.func && stage == other.stage && var == other.var);
}

const char *to_string(TailStrategy tail) {
    switch (tail) {
    case TailStrategy::RoundUp:
        return "RoundUp";
    case TailStrategy::GuardWithIf:
        return "GuardWithIf";
    case TailStrategy::Predicate:
        return "Predicate";
    case TailStrategy::PredicateLoads:
        return "PredicateLoads";
    case TailStrategy::PredicateStores:
        return "PredicateStores";
    case TailStrategy::ShiftInwards:
        return "ShiftInwards";
    case TailStrategy::ShiftInwardsAndBlend:
        return "ShiftInwardsAndBlend";
    case TailStrategy::RoundUpAndBlend:
        return "RoundUpAndBlend";
    case TailStrategy::Auto:
        return "Auto";
    }
    return "";
}

const char *to_string(LoopKind kind) {
    switch (kind) {
    case LoopKind::Serial:
        return "serial";
    case LoopKind::Parallel:
        return "parallel";
    case LoopKind::Vectorized:
        return "vectorize";
    case LoopKind::Unrolled:
        return "unroll";
    case LoopKind::GPUBlock:
        return "gpu_blocks";
    case LoopKind::GPUThread:
        return "gpu_threads";
    case LoopKind::GPULane:
        return "gpu_lanes";
    }
    return "";
}

const char *to_string(MemoryType memory) {
    switch (memory) {
    case MemoryType::Auto:
        return "Auto";
    case MemoryType::Heap:
        return "Heap";
    case MemoryType::Stack:
        return "Stack";
    case MemoryType::Register:
        return "Register";
    case MemoryType::GPUShared:
        return "GPUShared";
    case MemoryType::GPUTexture:
        return "GPUTexture";
    case MemoryType::LockedCache:
        return "LockedCache";
    case MemoryType::VTCM:
        return "VTCM";
    case MemoryType::AMXTile:
        return "AMXTile";
    }
    return "";
}

const char *to_string(Partition partition) {
    switch (partition) {
    case Partition::Auto:
        return "Auto";
    case Partition::Never:
        return "Never";
    case Partition::Always:
        return "Always";
    }
    return "";
}

const char *to_string(LoopAlignStrategy align) {
    switch (align) {
    case LoopAlignStrategy::AlignStart:
        return "AlignStart";
    case LoopAlignStrategy::AlignEnd:
        return "AlignEnd";
    case LoopAlignStrategy::NoAlign:
        return "NoAlign";
    case LoopAlignStrategy::Auto:
        return "Auto";
    }
    return "";
}

const char *to_string(DeviceAPI api) {
    static const char *const names[] = {"None",   "Host",    "Default_GPU",  "CUDA",
                                        "OpenCL", "Metal",   "D3D12Compute", "Vulkan",
                                        "WebGPU", "Hexagon", "HexagonDma"};
    return names[static_cast<size_t>(api)];
}

const char *to_string(CopiedTo memory) {
    return memory == CopiedTo::Device ? "copy_to_device"
           : memory == CopiedTo::Host ? "copy_to_host"
                                      : "";
}

const char *to_string(PrefetchBoundStrategy strategy) {
    switch (strategy) {
    case PrefetchBoundStrategy::Clamp:
        return "Clamp";
    case PrefetchBoundStrategy::GuardWithIf:
        return "GuardWithIf";
    case PrefetchBoundStrategy::NonFaulting:
        return "NonFaulting";
    }
    return "";
}

}  // namespace Pipe::schedules
