#pragma once
// The table of Target::Feature.

#include <array>
#include <bitset>

#include <pipe/target.h>

namespace Pipe::support {

using FeatureSet = std::bitset<Target::FeatureEnd>;

/// What asking for a feature means.
enum class FeatureKind : uint8_t {
    X86,      ///< an instruction set
    ARM,      ///< one
    Option,   ///< of the code that is made, on any processor
    Nothing,  ///< how Pipe works anyway
    CUDA,     ///< NVIDIA GPUs and their emulation, and what they can do
    // Refused, for these reasons.
    OtherProcessor,
    OtherGPU,
    Variable,  ///< vectors whose length is not known when the code is made
    Tool,      ///< instruments of other tools
};

struct FeatureInfo {
    Target::Feature feature;
    const char *name;
    FeatureKind kind;
    std::initializer_list<Target::Feature> needs;  ///< those that it builds on
};

/// Of a feature, whichever it is.
const FeatureInfo &feature_info(Target::Feature f);
/// All features that it builds on, directly or not.
const FeatureSet &needed_features(Target::Feature f);

}  // namespace Pipe::support
