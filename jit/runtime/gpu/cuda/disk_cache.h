#pragma once
// Linked programs of GPUs, kept in files from one process to the next: linking PTX takes the driver longer than all that
// Pipe does. A file that is missing, cut off or changed is a miss, and one that cannot be written is no error.

#include <string>

namespace Pipe::runtime::cuda {

/// The name of the file for this PTX, linked by a driver of this version for a GPU of this capability
/// (86 for 8.6).
std::string cache_key(const std::string &ptx, int capability, int driver_version);

/// "" where there is none.
std::string read_cached(const std::string &key);
void write_cached(const std::string &key, const std::string &cubin);

}  // namespace Pipe::runtime::cuda
