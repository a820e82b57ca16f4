#pragma once
// Target: the machine that code is generated for.

#include <bitset>
#include <cstdint>
#include <string>
#include <vector>

#include <pipe/type.h>

namespace Pipe {

/// Where a loop of a GPU schedule runs.
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
/// Code is made for X86 and ARM with 64 bits, under Linux and OSX. All other names are Halide's: a
/// program may ask for them; compiling for a target that has one is a CompileError with the reason.
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
        // Instruction sets. On ARM, NEON is always there.
        SSE41,
        AVX,
        AVX2,
        FMA,
        FMA4,
        F16C,
        AVXVNNI,
        AVX512,          ///< F and CD
        AVX512_Skylake,  ///< BW, DQ and VL too: what every server since Skylake has
        AVX512_Cannonlake,
        AVX512_Zen4,
        AVX512_Zen5,
        AVX512_SapphireRapids,
        ARMDotProd,
        ARMFp16,

        // What the code does besides.
        /// Tells how long each Func takes (Pipeline::profiler_report).
        Profile,
        ProfileByTimer,  ///< brings Profile, which asks no operating system's timer
        /// A permission: sums and products of floats may be grouped in another order, so that a
        /// loop over an RVar can be vectorized and parallel without rfactor(), and neighbouring
        /// stencils share parts of their sums. Results then differ by rounding (and in the sign of
        /// zeros).
        FastMath,
        /// Machine code that is made in about half of the time and runs several times slower. For
        /// finding mistakes, not for measuring.
        QuickCompile,
        /// No multiplication and addition become one operation with one rounding: strict_float()
        /// around everything.
        StrictFloat,
        // As if all Funcs and images were told so (Func::trace_loads, Pipeline::trace_pipeline).
        TraceLoads,
        TraceStores,
        TraceRealizations,
        TracePipeline,

        // How Pipe works anyway, or permissions that it makes no use of: they change nothing.
        JIT,
        LargeBuffers,
        UserContext,
        NoAsserts,  ///< a permission: what is tested stays tested
        NoBoundsQuery,
        NoRuntime,
        CPlusPlusMangling,
        EmbedBitcode,
        EnableLLVMLoopOpt,
        EnableBacktraces,

        // Known by name, and refused.
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
    int bits = 64;                     ///< of a pointer
    std::bitset<FeatureEnd> features;  ///< one bit per Feature; use the functions below

    Target() = default;
    Target(OS os, Arch arch, int bits, const std::vector<Feature> &features = {});
    /// From a name: "x86-64-linux-avx2-fma", "arm-64-linux", or "host", which may be followed by
    /// more features. A feature brings those that it builds on (avx2 brings avx and sse41). Throws
    /// CompileError for a part that means nothing.
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
    /// Without `f`, and without the features that build on it.
    Target without_feature(Feature f) const;
    /// With all features that its own build on: where `features` was changed by itself. (The
    /// functions here and Target(name) see to it.)
    Target with_implied_features() const;
    /// FeatureEnd where the name means nothing.
    static Feature feature_from_name(const std::string &name);
    static std::string feature_to_name(Feature f);

    /// The machine alone: without the features that are no instruction sets.
    Target machine() const;

    /// True where code can be made for it.
    bool supported() const;
    bool has_unknowns() const { return os == OSUnknown || arch == ArchUnknown || bits == 0; }

    /// Whether kernels for a GPU are asked for: CUDA, CUDAEmulator, or an API that is not supported().
    bool has_gpu_feature() const;
    /// Whether the target has NVIDIA kernels: for a GPU (CUDA), or for the emulator, which runs them on the CPU and
    /// checks them (CUDAEmulator).
    bool has_cuda() const { return has_feature(CUDA) || has_feature(CUDAEmulator); }
    /// Whether code is made that runs there.
    bool supports_device_api(DeviceAPI api) const {
        return api == DeviceAPI::None || api == DeviceAPI::Host ||
               ((api == DeviceAPI::CUDA || api == DeviceAPI::Default_GPU) && has_cuda());
    }
    bool has_large_buffers() const { return true; }
    /// Of one Buffer, in bytes.
    int64_t maximum_buffer_size() const { return INT64_MAX; }
    /// Whether values of this type can be computed.
    bool supports_type(const Type &type) const {
        return type.is_handle() || type.is_bool() || (type.bits() >= 8 && type.bits() <= 64);
    }
    bool supports_type(const Type &type, DeviceAPI api) const {
        return supports_device_api(api) && supports_type(type);
    }

    /// How many lanes of the type fill one vector register: 16 floats with AVX-512, 8 with AVX2 and
    /// 4 with SSE or NEON. A Bool counts as a byte. At least 1. Only the element of `type` matters.
    int natural_vector_size(const Type &type) const;
    template <typename T> int natural_vector_size() const {
        return natural_vector_size(type_of<T>());
    }

    /// "x86-64-linux-sse41-avx-avx2-fma"; Target(t.to_string()) == t.
    std::string to_string() const;

    bool operator==(const Target &) const = default;
};

/// The machine that this program runs on, with all that its processor and operating system support.
/// The environment variable PIPE_TARGET, where set, is taken instead (see Target(name)).
Target get_host_target();

/// The same; the name under which Halide has it for compiling and running in one process.
inline Target get_jit_target_from_environment() {
    return get_host_target();
}

/// Whether code for `target` can run here; with Target::CUDA, only where there is a driver and a GPU.
bool host_supports_target_device(const Target &target);

}  // namespace Pipe
