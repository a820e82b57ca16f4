#pragma once
// Target: the machine for which code is generated.

#include <bitset>
#include <cstdint>
#include <string>
#include <vector>

#include <pipe/type.h>

namespace Pipe {

/// The device on which a loop runs.
enum class DeviceAPI : uint8_t {
    None,
    Host,
    Default_GPU,
    CUDA,
    OpenCL,
    Metal,
    D3D12Compute,
    Vulkan,
    WebGPU,
    Hexagon,
    HexagonDma
};
inline constexpr DeviceAPI all_device_apis[] = {
    DeviceAPI::None,   DeviceAPI::Host,    DeviceAPI::Default_GPU,  DeviceAPI::CUDA,
    DeviceAPI::OpenCL, DeviceAPI::Metal,   DeviceAPI::D3D12Compute, DeviceAPI::Vulkan,
    DeviceAPI::WebGPU, DeviceAPI::Hexagon, DeviceAPI::HexagonDma};

/// The machine that code is generated for: architecture, operating system and the instruction sets
/// that generated code may use. A small value; compare, copy and print it freely.
///
/// Code can be generated for 64-bit X86 and ARM under Linux and OSX (tested: X86 under Linux), with
/// kernels for NVIDIA GPUs or for their emulator. The other names exist for compatibility with
/// Halide: a program may construct such a Target, but compiling for it is a CompileError that gives
/// the reason.
struct Target {
    enum Arch : uint8_t { ArchUnknown, X86, ARM, Hexagon, POWERPC, RISCV, WebAssembly };
    enum OS : uint8_t {
        OSUnknown,
        Linux,
        OSX,
        Windows,
        Android,
        IOS,
        QuRT,
        NoOS,
        Fuchsia,
        WebAssemblyRuntime
    };

    enum Feature : uint8_t {
        // Instruction sets. NEON is always assumed on ARM.
        SSE41,
        AVX,
        AVX2,
        FMA,
        FMA4,
        F16C,
        AVXVNNI,
        AVX512,          ///< F and CD
        AVX512_Skylake,  ///< and BW, DQ, VL: every server processor since Skylake
        AVX512_Cannonlake,
        AVX512_Zen4,
        AVX512_Zen5,
        AVX512_SapphireRapids,
        ARMDotProd,
        ARMFp16,

        // Options of code generation.
        /// Measures the time spent in each Func (Pipeline::profiler_report).
        Profile,
        ProfileByTimer,  ///< the same as Profile: Halide's variant that samples by timer interrupts
        /// Permits reassociation of floating-point sums and products, so that a loop over an RVar
        /// can be vectorized or parallel without rfactor(), and neighboring stencils share partial
        /// sums; and multiplication by the reciprocal of a divisor that is constant or that all lanes share.
        /// Results then differ by rounding, in the sign of zeros, and where a reciprocal overflows.
        FastMath,
        /// Compiles in about half of the time to code that runs several times slower. For
        /// debugging, not for measuring.
        QuickCompile,
        /// Never contracts a multiplication and an addition to a fused operation, as if all
        /// expressions were wrapped in strict_float().
        StrictFloat,
        // As if every Func and image had this directive (Func::trace_loads,
        // Pipeline::trace_pipeline).
        TraceLoads,
        TraceStores,
        TraceRealizations,
        TracePipeline,

        // No effect: either Pipe always works this way, or it makes no use of the permission.
        JIT,
        /// But for kernels for a GPU: their indices have 64 bits instead of 32. (Compiled at run time, they have them where a
        /// buffer needs it.)
        LargeBuffers,
        UserContext,
        NoAsserts,  ///< checks are not removed
        NoBoundsQuery,
        NoRuntime,
        CPlusPlusMangling,
        EmbedBitcode,
        EnableLLVMLoopOpt,
        EnableBacktraces,

        // Accepted by name, but compiling is an error.
        Debug,
        ASAN,
        MSAN,
        TSAN,
        SanitizerCoverage,
        FuzzFloatStores,
        CheckUnsafePromises,
        SoftFloatABI,
        LLVMLargeCodeModel,
        Semihosting,
        Simulator,
        AVX512_KNL,
        AVX10_1,
        X86APX,
        NoNEON,
        ARMv7s,
        ARMv8a,
        ARMv81a,
        ARMv82a,
        ARMv83a,
        ARMv84a,
        ARMv85a,
        ARMv86a,
        ARMv87a,
        ARMv88a,
        ARMv89a,
        SVE,
        SVE2,
        SME2,
        VSX,
        POWER_ARCH_2_07,
        RVV,
        HVX_128,
        HVX = HVX_128,
        HVX_v62,
        HVX_v65,
        HVX_v66,
        HVX_v68,
        HexagonDma,
        WasmMvpOnly,
        WasmSimd128,
        WasmThreads,
        WasmBulkMemory,

        // Kernels for NVIDIA GPUs (docs/gpu.md), or for the emulator that runs them on the CPU.
        CUDA,
        CUDACapability30,
        CUDACapability32,
        CUDACapability35,
        CUDACapability50,
        CUDACapability61,
        CUDACapability70,
        CUDACapability75,
        CUDACapability80,
        CUDACapability86,
        CUDACapability89,
        CUDACapability90,
        CUDAEmulator,

        // Accepted by name, but compiling is an error.
        OpenCL,
        CLDoubles,
        CLHalf,
        CLAtomics64,
        EGL,
        Metal,
        D3D12Compute,
        Vulkan,
        VulkanInt8,
        VulkanInt16,
        VulkanInt64,
        VulkanFloat16,
        VulkanFloat64,
        VulkanV10,
        VulkanV12,
        VulkanV13,
        WebGPU,
        SPIRV,
        FeatureEnd
    };

    OS os = OSUnknown;
    Arch arch = ArchUnknown;
    int bits = 64;                     ///< width of a pointer
    std::bitset<FeatureEnd> features;  ///< one bit per Feature; prefer the functions below

    Target() = default;
    Target(OS os, Arch arch, int bits, const std::vector<Feature> &features = {});
    /// Parses a name: "x86-64-linux-avx2-fma", "arm-64-linux", or "host", which may be followed by
    /// more features. A feature implies those that it builds on (avx2 implies avx and sse41).
    /// CompileError if a part is unknown.
    explicit Target(const std::string &name);
    explicit Target(const char *name) : Target(std::string(name)) {}
    static bool validate_target_string(const std::string &name);

    bool has_feature(Feature f) const { return features[f]; }
    const std::bitset<FeatureEnd> &get_features_bitset() const { return features; }
    bool features_any_of(const std::vector<Feature> &list) const;
    bool features_all_of(const std::vector<Feature> &list) const;
    void set_feature(Feature f, bool value = true);
    void set_features(const std::vector<Feature> &list, bool value = true);
    Target with_feature(Feature f) const;
    /// Removes `f` and the features that build on it.
    Target without_feature(Feature f) const;
    /// Adds all features that the present ones imply. Needed only after `features` was changed
    /// directly: Target(name) and the functions here do it themselves.
    Target with_implied_features() const;
    /// FeatureEnd if the name is unknown.
    static Feature feature_from_name(const std::string &name);
    static std::string feature_to_name(Feature f);

    /// The processor and its instruction sets, without options such as Profile.
    Target machine() const;

    /// Whether code can be generated for this target.
    bool supported() const;
    bool has_unknowns() const { return os == OSUnknown || arch == ArchUnknown || bits == 0; }

    /// Whether kernels for a GPU are requested: CUDA, CUDAEmulator, or an API that is not supported().
    bool has_gpu_feature() const;
    /// Whether the target has NVIDIA kernels: for a GPU (CUDA), or for the emulator, which runs them on the CPU and
    /// checks them (CUDAEmulator).
    bool has_cuda() const { return has_feature(CUDA) || has_feature(CUDAEmulator); }
    /// Whether code can be generated for this device.
    bool supports_device_api(DeviceAPI api) const {
        return api == DeviceAPI::None || api == DeviceAPI::Host ||
               ((api == DeviceAPI::CUDA || api == DeviceAPI::Default_GPU) && has_cuda());
    }
    bool has_large_buffers() const { return true; }
    /// The largest size of a Buffer in bytes.
    int64_t maximum_buffer_size() const { return INT64_MAX; }
    /// Whether values of this type can be computed.
    bool supports_type(const Type &type) const {
        return type.is_handle() || type.is_bool() || (type.bits() >= 8 && type.bits() <= 64);
    }
    bool supports_type(const Type &type, DeviceAPI api) const {
        return supports_device_api(api) && supports_type(type);
    }

    /// The number of lanes of `type` in one vector register: 16 floats with AVX-512, 8 with AVX2, 4
    /// with SSE or NEON; at least 1. A Bool counts as a byte. The lanes of `type` are ignored.
    int natural_vector_size(const Type &type) const;
    template <typename T> int natural_vector_size() const {
        return natural_vector_size(type_of<T>());
    }

    /// "x86-64-linux-sse41-avx-avx2-fma"; Target(t.to_string()) == t.
    std::string to_string() const;

    bool operator==(const Target &) const = default;
};

/// The machine on which this program runs, with all features of its processor that the operating
/// system supports; or the target named by the environment variable PIPE_TARGET, if it is set (see
/// Target(name)).
Target get_host_target();

/// The same, under Halide's name for just-in-time compilation.
inline Target get_jit_target_from_environment() {
    return get_host_target();
}

/// Whether code for `target` can run on this machine; with Target::CUDA, only if there is a driver and a GPU.
bool host_supports_target_device(const Target &target);

}  // namespace Pipe
