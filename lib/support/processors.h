#pragma once
// The processors that this process may use, and the caches of the machine.

#include <cstdint>
#include <filesystem>
#include <optional>

namespace Pipe::support {

/// The results of hwloc; 0 where it has no information (in some virtual machines and containers).
struct Topology {
    int processors = 0;  ///< logical ones that the process may run on
    /// Sizes of the first data cache of each level.
    int64_t l1_bytes = 0, l2_bytes = 0, l3_bytes = 0;
};

/// Reads the topology. `synthetic`: hwloc's description of another machine ("core:4
/// l2:1(size=1048576) ..."); null: this machine, or the one given by the environment variable
/// HWLOC_SYNTHETIC.
Topology read_topology(const char *synthetic = nullptr);

/// The topology of this machine, read once.
const Topology &topology();

/// The CPU quota of this process's control groups, as a number of processors: the minimum over its
/// group and the ancestors of that (version 1: cpu.cfs_quota_us, version 2: cpu.max). Nothing if
/// there is no limit. `root`: the directory that contains /proc and /sys.
std::optional<double> cgroup_processors(const std::filesystem::path &root = "/");

/// The default number of processors: those of the topology, limited by the quota of the control
/// group (rounded up). Computed once.
int usable_processors();

/// The argument of set_num_threads; 0: none.
void set_thread_limit(int threads);
int thread_limit();

/// The number of threads of a parallel loop unless OpenMP was told otherwise: the thread limit,
/// else OMP_NUM_THREADS, else the usable processors.
int default_threads();

/// The clock rate of this processor in GHz: what the system says, else 3. Only for estimates.
double clock_ghz();

}  // namespace Pipe::support
