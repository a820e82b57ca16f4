#pragma once
// The table of Target::Feature.

#include <array>
#include <bitset>

#include <pipe/target.h>

namespace Pipe::support {

using FeatureSet = std::bitset<Target::FeatureEnd>;

/// The effect of setting a feature.
enum class FeatureKind : uint8_t {
    X86,      ///< an instruction set
    ARM,      ///< one
    Option,   ///< of code generation, on any processor
    Nothing,  ///< no effect: Pipe always works this way
    CUDA,     ///< NVIDIA GPUs and their emulation, and their capabilities
    // Refused, for these reasons.
    OtherProcessor,
    OtherGPU,
    Variable,  ///< scalable vectors, whose length is unknown at compile time
    Tool,      ///< instrumentation by other tools
};

struct FeatureInfo {
    Target::Feature feature;
    const char *name;
    FeatureKind kind;
    std::initializer_list<Target::Feature> needs;  ///< those that it builds on
};

/// The entry of a feature.
const FeatureInfo &feature_info(Target::Feature f);
/// All features that it builds on, directly or indirectly.
const FeatureSet &needed_features(Target::Feature f);

}  // namespace Pipe::support
