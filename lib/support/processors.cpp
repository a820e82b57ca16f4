#include "support/processors.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include <hwloc.h>

#include "support/env.h"

namespace Pipe::support {

namespace {

int64_t cache_bytes(hwloc_topology_t topology, hwloc_obj_type_t type) {
    hwloc_obj_t cache = hwloc_get_obj_by_type(topology, type, 0);
    return cache && cache->attr ? static_cast<int64_t>(cache->attr->cache.size) : 0;
}

/// Processors that are allowed both by the system and by the process's affinity.
int count_processors(hwloc_topology_t topology) {
    hwloc_bitmap_t set = hwloc_bitmap_alloc();
    const bool bound = hwloc_topology_is_thissystem(topology) &&
                       hwloc_get_cpubind(topology, set, HWLOC_CPUBIND_PROCESS) == 0;
    hwloc_const_cpuset_t allowed = hwloc_topology_get_allowed_cpuset(topology);
    if (bound)
        hwloc_bitmap_and(set, set, allowed);
    else
        hwloc_bitmap_copy(set, allowed);
    const int count = hwloc_bitmap_weight(set);
    hwloc_bitmap_free(set);
    return std::max(count, 0);
}

/// The first line of a file; "" where there is none.
std::string first_line(const std::filesystem::path &file) {
    std::string line;
    std::ifstream in(file);
    std::getline(in, line);
    return line;
}

/// quota / period; nothing if there is no limit.
std::optional<double> share(const std::string &quota, const std::string &period) {
    const double q = std::atof(quota.c_str()), p = std::atof(period.c_str());
    if (q <= 0 || p <= 0)  // "max", -1, no such file
        return std::nullopt;
    return q / p;
}

/// The quota of one group alone.
std::optional<double> quota_of(const std::filesystem::path &folder) {
    std::string quota, period;
    std::istringstream(first_line(folder / "cpu.max")) >> quota >> period;
    if (quota.empty()) {
        quota = first_line(folder / "cpu.cfs_quota_us");
        period = first_line(folder / "cpu.cfs_period_us");
    }
    return share(quota, period);
}

/// The minimum over a group and its ancestors. In a container, the group's path may name a
/// directory that only the host sees; the root directory is then the container's group.
std::optional<double> quota_up_from(const std::filesystem::path &mount,
                                    std::filesystem::path group) {
    std::optional<double> least;
    while (true) {
        const std::optional<double> quota = quota_of(mount / group);
        if (quota && (!least || *quota < *least))
            least = quota;
        if (group.empty())
            return least;
        group = group.parent_path();
    }
}

struct Group {
    std::string controllers;  ///< "cpu,cpuacct"; "" in version 2
    std::filesystem::path path;
};

/// Lines "4:cpu,cpuacct:/docker/12", or "0::/user.slice".
std::vector<Group> groups_of_process(const std::filesystem::path &root) {
    std::vector<Group> groups;
    std::ifstream in(root / "proc/self/cgroup");
    for (std::string line; std::getline(in, line);) {
        const size_t first = line.find(':'), second = line.find(':', first + 1);
        if (first == std::string::npos || second == std::string::npos)
            continue;
        std::filesystem::path path = line.substr(second + 1);
        groups.push_back({line.substr(first + 1, second - first - 1), path.relative_path()});
    }
    return groups;
}

bool has_cpu(const std::string &controllers) {
    std::istringstream list(controllers);
    for (std::string name; std::getline(list, name, ',');)
        if (name == "cpu")
            return true;
    return false;
}

std::atomic<int> limit{0};

}  // namespace

Topology read_topology(const char *synthetic) {
    Topology result;
    hwloc_topology_t topology = nullptr;
    if (hwloc_topology_init(&topology) != 0)
        return result;
    const bool named = !synthetic || hwloc_topology_set_synthetic(topology, synthetic) == 0;
    if (named && hwloc_topology_load(topology) == 0) {
        result.processors = count_processors(topology);
        result.l1_bytes = cache_bytes(topology, HWLOC_OBJ_L1CACHE);
        result.l2_bytes = cache_bytes(topology, HWLOC_OBJ_L2CACHE);
        result.l3_bytes = cache_bytes(topology, HWLOC_OBJ_L3CACHE);
    }
    hwloc_topology_destroy(topology);
    return result;
}

const Topology &topology() {
    static const Topology read = read_topology();
    return read;
}

std::optional<double> cgroup_processors(const std::filesystem::path &root) {
    const std::filesystem::path mounts = root / "sys/fs/cgroup";
    std::optional<double> least;
    for (const Group &group : groups_of_process(root)) {
        std::vector<std::filesystem::path> folders;
        if (group.controllers.empty())
            folders = {mounts, mounts / "unified"};
        else if (has_cpu(group.controllers))
            folders = {mounts / group.controllers, mounts / "cpu"};
        for (const std::filesystem::path &folder : folders) {
            const std::optional<double> quota = quota_up_from(folder, group.path);
            if (quota && (!least || *quota < *least))
                least = quota;
        }
    }
    return least;
}

int usable_processors() {
    static const int usable = [] {
        int processors = topology().processors;
        if (processors <= 0)
            processors = static_cast<int>(std::thread::hardware_concurrency());
        if (const std::optional<double> quota = cgroup_processors())
            processors = std::min(processors, static_cast<int>(std::ceil(*quota)));
        return std::max(processors, 1);
    }();
    return usable;
}

void set_thread_limit(int threads) {
    limit.store(threads, std::memory_order_relaxed);
}

int thread_limit() {
    return limit.load(std::memory_order_relaxed);
}

int default_threads() {
    if (const int threads = thread_limit(); threads > 0)
        return threads;
    const int of_openmp = std::atoi(env("OMP_NUM_THREADS").c_str());  // of "4,2" the 4
    return of_openmp > 0 ? of_openmp : usable_processors();
}

double clock_ghz() {
    static const double rate = [] {
        std::ifstream cpuinfo("/proc/cpuinfo");
        double fastest_mhz = 0;
        for (std::string line; std::getline(cpuinfo, line);)
            if (line.rfind("cpu MHz", 0) == 0 && line.find(':') != std::string::npos)
                fastest_mhz = std::max(fastest_mhz, std::atof(line.c_str() + line.find(':') + 1));
        return fastest_mhz > 0 ? fastest_mhz / 1000 : 3;
    }();
    return rate;
}

}  // namespace Pipe::support
