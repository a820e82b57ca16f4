#include "support/target_features.h"

#include <algorithm>

#include <pipe/error.h>

namespace Pipe::support {

namespace {

using T = Target;
using K = FeatureKind;

/// A feature's prerequisites come before it.
const FeatureInfo table[] = {
    {T::SSE41, "sse41", K::X86, {}},
    {T::AVX, "avx", K::X86, {T::SSE41}},
    {T::AVX2, "avx2", K::X86, {T::AVX}},
    {T::FMA, "fma", K::X86, {T::AVX}},
    {T::FMA4, "fma4", K::X86, {T::AVX}},
    {T::F16C, "f16c", K::X86, {T::AVX}},
    {T::AVXVNNI, "avxvnni", K::X86, {T::AVX2}},
    {T::AVX512, "avx512", K::X86, {T::AVX2, T::FMA, T::F16C}},
    {T::AVX512_Skylake, "avx512_skylake", K::X86, {T::AVX512}},
    {T::AVX512_Cannonlake, "avx512_cannonlake", K::X86, {T::AVX512_Skylake}},
    {T::AVX512_Zen4, "avx512_zen4", K::X86, {T::AVX512_Cannonlake}},
    {T::AVX512_Zen5, "avx512_zen5", K::X86, {T::AVX512_Zen4, T::AVXVNNI}},
    {T::AVX512_SapphireRapids, "avx512_sapphirerapids", K::X86, {T::AVX512_Zen4, T::AVXVNNI}},
    {T::ARMDotProd, "arm_dot_prod", K::ARM, {}},
    {T::ARMFp16, "arm_fp16", K::ARM, {}},

    {T::Profile, "profile", K::Option, {}},
    {T::ProfileByTimer, "profile_by_timer", K::Option, {T::Profile}},
    {T::FastMath, "fast_math", K::Option, {}},
    {T::QuickCompile, "quick_compile", K::Option, {}},
    {T::StrictFloat, "strict_float", K::Option, {}},
    {T::TraceLoads, "trace_loads", K::Option, {}},
    {T::TraceStores, "trace_stores", K::Option, {}},
    {T::TraceRealizations, "trace_realizations", K::Option, {}},
    {T::TracePipeline, "trace_pipeline", K::Option, {}},

    {T::JIT, "jit", K::Nothing, {}},
    {T::LargeBuffers, "large_buffers", K::Option, {}},
    {T::UserContext, "user_context", K::Nothing, {}},
    {T::NoAsserts, "no_asserts", K::Nothing, {}},
    {T::NoBoundsQuery, "no_bounds_query", K::Nothing, {}},
    {T::NoRuntime, "no_runtime", K::Nothing, {}},
    {T::CPlusPlusMangling, "c_plus_plus_name_mangling", K::Nothing, {}},
    {T::EmbedBitcode, "embed_bitcode", K::Nothing, {}},
    {T::EnableLLVMLoopOpt, "enable_llvm_loop_opt", K::Nothing, {}},
    {T::EnableBacktraces, "enable_backtraces", K::Nothing, {}},

    {T::Debug, "debug", K::Tool, {}},
    {T::ASAN, "asan", K::Tool, {}},
    {T::MSAN, "msan", K::Tool, {}},
    {T::TSAN, "tsan", K::Tool, {}},
    {T::SanitizerCoverage, "sanitizer_coverage", K::Tool, {}},
    {T::FuzzFloatStores, "fuzz_float_stores", K::Tool, {}},
    {T::CheckUnsafePromises, "check_unsafe_promises", K::Tool, {}},
    {T::SoftFloatABI, "soft_float_abi", K::OtherProcessor, {}},
    {T::LLVMLargeCodeModel, "llvm_large_code_model", K::Tool, {}},
    {T::Semihosting, "semihosting", K::Tool, {}},
    {T::Simulator, "simulator", K::Tool, {}},
    {T::AVX512_KNL, "avx512_knl", K::OtherProcessor, {}},
    {T::AVX10_1, "avx10_1", K::OtherProcessor, {}},
    {T::X86APX, "x86apx", K::OtherProcessor, {}},
    {T::NoNEON, "no_neon", K::OtherProcessor, {}},
    {T::ARMv7s, "armv7s", K::OtherProcessor, {}},
    {T::ARMv8a, "armv8a", K::OtherProcessor, {}},
    {T::ARMv81a, "armv81a", K::OtherProcessor, {}},
    {T::ARMv82a, "armv82a", K::OtherProcessor, {}},
    {T::ARMv83a, "armv83a", K::OtherProcessor, {}},
    {T::ARMv84a, "armv84a", K::OtherProcessor, {}},
    {T::ARMv85a, "armv85a", K::OtherProcessor, {}},
    {T::ARMv86a, "armv86a", K::OtherProcessor, {}},
    {T::ARMv87a, "armv87a", K::OtherProcessor, {}},
    {T::ARMv88a, "armv88a", K::OtherProcessor, {}},
    {T::ARMv89a, "armv89a", K::OtherProcessor, {}},
    {T::SVE, "sve", K::Variable, {}},
    {T::SVE2, "sve2", K::Variable, {}},
    {T::SME2, "sme2", K::Variable, {}},
    {T::VSX, "vsx", K::OtherProcessor, {}},
    {T::POWER_ARCH_2_07, "power_arch_2_07", K::OtherProcessor, {}},
    {T::RVV, "rvv", K::Variable, {}},
    {T::HVX_128, "hvx_128", K::OtherProcessor, {}},
    {T::HVX_v62, "hvx_v62", K::OtherProcessor, {}},
    {T::HVX_v65, "hvx_v65", K::OtherProcessor, {}},
    {T::HVX_v66, "hvx_v66", K::OtherProcessor, {}},
    {T::HVX_v68, "hvx_v68", K::OtherProcessor, {}},
    {T::HexagonDma, "hexagon_dma", K::OtherProcessor, {}},
    {T::WasmMvpOnly, "wasm_mvponly", K::OtherProcessor, {}},
    {T::WasmSimd128, "wasm_simd128", K::OtherProcessor, {}},
    {T::WasmThreads, "wasm_threads", K::OtherProcessor, {}},
    {T::WasmBulkMemory, "wasm_bulk_memory", K::OtherProcessor, {}},
    {T::CUDA, "cuda", K::CUDA, {}},
    {T::CUDACapability30, "cuda_capability_30", K::CUDA, {}},
    {T::CUDACapability32, "cuda_capability_32", K::CUDA, {}},
    {T::CUDACapability35, "cuda_capability_35", K::CUDA, {}},
    {T::CUDACapability50, "cuda_capability_50", K::CUDA, {}},
    {T::CUDACapability61, "cuda_capability_61", K::CUDA, {}},
    {T::CUDACapability70, "cuda_capability_70", K::CUDA, {}},
    {T::CUDACapability75, "cuda_capability_75", K::CUDA, {}},
    {T::CUDACapability80, "cuda_capability_80", K::CUDA, {}},
    {T::CUDACapability86, "cuda_capability_86", K::CUDA, {}},
    {T::CUDACapability89, "cuda_capability_89", K::CUDA, {}},
    {T::CUDACapability90, "cuda_capability_90", K::CUDA, {}},
    {T::CUDAEmulator, "cuda_emulator", K::CUDA, {}},
    {T::OpenCL, "opencl", K::OtherGPU, {}},
    {T::CLDoubles, "cl_doubles", K::OtherGPU, {}},
    {T::CLHalf, "cl_half", K::OtherGPU, {}},
    {T::CLAtomics64, "cl_atomics64", K::OtherGPU, {}},
    {T::EGL, "egl", K::OtherGPU, {}},
    {T::Metal, "metal", K::OtherGPU, {}},
    {T::D3D12Compute, "d3d12compute", K::OtherGPU, {}},
    {T::Vulkan, "vulkan", K::OtherGPU, {}},
    {T::VulkanInt8, "vk_int8", K::OtherGPU, {}},
    {T::VulkanInt16, "vk_int16", K::OtherGPU, {}},
    {T::VulkanInt64, "vk_int64", K::OtherGPU, {}},
    {T::VulkanFloat16, "vk_float16", K::OtherGPU, {}},
    {T::VulkanFloat64, "vk_float64", K::OtherGPU, {}},
    {T::VulkanV10, "vk_v10", K::OtherGPU, {}},
    {T::VulkanV12, "vk_v12", K::OtherGPU, {}},
    {T::VulkanV13, "vk_v13", K::OtherGPU, {}},
    {T::WebGPU, "webgpu", K::OtherGPU, {}},
    {T::SPIRV, "spirv", K::OtherGPU, {}},
};
static_assert(std::size(table) == Target::FeatureEnd);

}  // namespace

const FeatureInfo &feature_info(Target::Feature f) {
    if (f >= Target::FeatureEnd)
        throw CompileError(
            "Target::FeatureEnd is not a feature: it only marks the end of the list.");
    const FeatureInfo &info = table[f];
    if (info.feature != f)
        throw InternalError("the table of target features is not in the order of Target::Feature");
    return info;
}

const FeatureSet &needed_features(Target::Feature f) {
    static const auto all = [] {
        std::array<FeatureSet, Target::FeatureEnd> sets;
        for (const FeatureInfo &info : table)
            for (Target::Feature g : info.needs)
                sets[info.feature] |= sets[g] | FeatureSet().set(g);
        return sets;
    }();
    return all.at(f);
}

}  // namespace Pipe::support
