#pragma once
// The processors that this process may use, and the caches of the machine.

#include <cstdint>
#include <filesystem>
#include <optional>

namespace Pipe::support {

/// What hwloc knows; 0 where it knows nothing (in some virtual machines and containers).
struct Topology {
    int processors = 0;  ///< logical ones that the process may run on
    /// Data caches, each of the first of its level.
    int64_t l1_bytes = 0, l2_bytes = 0, l3_bytes = 0;
};

/// Reads it anew. `synthetic`: hwloc's description of a machine that is not there
/// ("core:4 l2:1(size=1048576) ..."); null: this machine, or what the environment variables of
/// hwloc say (HWLOC_SYNTHETIC).
Topology read_topology(const char *synthetic = nullptr);

/// Of this machine, read once.
const Topology &topology();

/// The processors' time that the control groups of this process may use, as a number of processors:
/// the least quota of its group and of those above (version 1: cpu.cfs_quota_us, version 2:
/// cpu.max). Nothing where there is no limit. `root`: where /proc and /sys are.
std::optional<double> cgroup_processors(const std::filesystem::path &root = "/");

/// The processors to use where nobody says otherwise: those of the topology, but not more than the
/// control group allows (rounded up). Found once.
int usable_processors();

/// What set_num_threads was told; 0: nothing.
void set_thread_limit(int threads);
int thread_limit();

/// The threads of a parallel loop where nothing was said to OpenMP: the thread limit, else
/// OMP_NUM_THREADS, else the usable processors.
int default_threads();

}  // namespace Pipe::support
