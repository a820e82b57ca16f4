#pragma once
// Target: the machine that code is generated for.

#include <cstdint>
#include <initializer_list>
#include <string>

#include <pipe/type.h>

namespace Pipe {

/// The machine that code is generated for: architecture, operating system and the instruction sets
/// that generated code may use. A small value; compare, copy and print it freely.
struct Target {
    enum class Arch : uint8_t { Unknown, X86_64, AArch64 };
    enum class OS : uint8_t { Unknown, Linux, MacOS };

    /// Instruction sets. On AArch64, NEON is always there. AVX512_Skylake is F, CD, BW, DQ and VL
    /// together: what every server since Skylake has.
    enum Feature : uint8_t {
        SSE41,
        AVX,
        AVX2,
        FMA,
        F16C,
        AVX512_Skylake,
        /// No instruction set: code that tells how long each Func takes (Pipeline::profiler_report).
        Profile,
        /// No instruction set, but a permission: sums and products of floats may be grouped in
        /// another order, so that a loop over an RVar can be vectorized and parallel without
        /// rfactor(). Results then differ by rounding.
        FastMath,
        /// No instruction set: machine code that is made in about half of the time and runs several
        /// times slower. For finding mistakes, not for measuring.
        QuickCompile,
        FeatureEnd
    };

    Arch arch = Arch::Unknown;
    OS os = OS::Unknown;
    int bits = 64;          ///< of a pointer
    uint32_t features = 0;  ///< one bit per Feature; use the functions below

    Target() = default;
    Target(OS os, Arch arch, std::initializer_list<Feature> features = {});
    /// From a name: "x86-64-linux-avx2-fma", "arm-64-linux", or "host", which may be followed by
    /// more features. A feature brings those that it builds on (avx2 brings avx and sse41). Throws
    /// CompileError for a part that means nothing.
    explicit Target(const std::string &name);

    bool has_feature(Feature f) const { return (features >> f & 1) != 0; }
    void set_feature(Feature f, bool value = true);
    Target with_feature(Feature f) const;
    /// Without `f`, and without the features that build on it.
    Target without_feature(Feature f) const;

    /// The machine alone: without the features that are no instruction sets.
    Target machine() const;

    /// Code for GPUs is not made.
    bool has_gpu_feature() const { return false; }

    /// How many lanes of the type fill one vector register: 16 floats with AVX-512, 8 with AVX2 and
    /// 4 with SSE or NEON. A Bool counts as a byte. At least 1. Only the element of `type` matters.
    int natural_vector_size(Type type) const;
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

}  // namespace Pipe
