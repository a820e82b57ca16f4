#pragma once
// What a Target's features mean to those who make code for it.

#include <string>

#include <pipe/target.h>

namespace Pipe::support {

/// Why no code can be made for it: the architecture, operating system or feature, and what to use
/// instead. "" where it can.
std::string unsupported_reason(const Target &target);

/// Whether the processor and the operating system here run code for it. Says nothing about GPUs.
bool runs_on_this_processor(const Target &target);

/// Whether single instructions load and store vectors of such elements with some of the lanes left out. For others
/// each lane is a branch.
bool has_masked_access(const Target &target, const Type &type);

}  // namespace Pipe::support
