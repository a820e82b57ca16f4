#pragma once
// The meaning of a Target's features to code generation.

#include <string>

#include <pipe/target.h>

namespace Pipe::support {

/// The reason why no code can be generated for the target: the architecture, operating system or
/// feature, and what to use instead. "" if it can.
std::string unsupported_reason(const Target &target);

/// Whether this machine's processor and operating system run code for the target. Says nothing about GPUs.
bool runs_on_this_processor(const Target &target);

/// Whether the target has masked vector loads and stores for these elements. If not, each lane
/// needs a branch.
bool has_masked_access(const Target &target, const Type &type);

/// Bytes of a line of the caches and of a page, on the machines of the target.
int cache_line_bytes(const Target &target);
int page_bytes(const Target &target);

}  // namespace Pipe::support
