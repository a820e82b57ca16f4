#include "autoschedule/machine.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <string>
#include <thread>

#include <unistd.h>

#include <fmt/format.h>

#include "support/env.h"

namespace Pipe::autoschedule {

namespace {

#ifdef _SC_LEVEL1_DCACHE_SIZE
constexpr int level1 = _SC_LEVEL1_DCACHE_SIZE, level2 = _SC_LEVEL2_CACHE_SIZE,
              level3 = _SC_LEVEL3_CACHE_SIZE;
#else
constexpr int level1 = -1, level2 = -1, level3 = -1;
#endif

/// Size of the data cache of this level as Linux tells it, else as sysconf does, else `otherwise`.
/// (sysconf adds up the last-level caches of sockets that a virtual machine does not have.)
int64_t cache_bytes(int level, int sysconf_name, int64_t otherwise) {
    for (int index = 0; index < 8; index++) {
        const std::string folder =
            fmt::format("/sys/devices/system/cpu/cpu0/cache/index{}/", index);
        std::string type, size;
        int at_level = 0;
        std::ifstream(folder + "type") >> type;
        std::ifstream(folder + "level") >> at_level;
        if (at_level != level || (type != "Data" && type != "Unified"))
            continue;
        std::ifstream(folder + "size") >> size;
        const int64_t kib = std::strtoll(size.c_str(), nullptr, 10);
        if (kib > 0)
            return size.back() == 'M' ? kib << 20 : kib << 10;
    }
    const long bytes = sysconf_name < 0 ? 0 : sysconf(sysconf_name);
    return bytes > 0 ? bytes : otherwise;
}

int host_cores() {
    const int64_t threads = support::env_int("OMP_NUM_THREADS", 0);
    if (threads > 0)
        return static_cast<int>(threads);
    return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

int vector_registers(const Target &target) {
    return target.arch == Target::X86 && !target.has_feature(Target::AVX512) ? 16 : 32;
}

}  // namespace

Machine host_machine(const Target &target, const AutoscheduleOptions &options) {
    Machine m;
    m.l1_bytes = cache_bytes(1, level1, m.l1_bytes);
    m.l2_bytes = cache_bytes(2, level2, m.l2_bytes);
    m.l3_bytes = cache_bytes(3, level3, m.l3_bytes);
    m.cores = options.cores > 0 ? options.cores : host_cores();
    if (options.l1_bytes > 0)
        m.l1_bytes = options.l1_bytes;
    if (options.l2_bytes > 0)
        m.l2_bytes = options.l2_bytes;
    if (options.l3_bytes > 0)
        m.l3_bytes = options.l3_bytes;
    m.l2_bytes = std::max(m.l2_bytes, m.l1_bytes);
    m.l3_bytes = std::max(m.l3_bytes, m.l2_bytes);
    m.fast_math = target.has_feature(Target::FastMath);
    m.vector_bytes = target.natural_vector_size(UInt(8));
    m.vector_registers = vector_registers(target);
    return m;
}

std::string to_string(const Machine &m) {
    return fmt::format("{} cores, {} byte vectors, L1 {} KiB, L2 {} KiB, L3 {} KiB", m.cores,
                       m.vector_bytes, m.l1_bytes >> 10, m.l2_bytes >> 10, m.l3_bytes >> 10);
}

}  // namespace Pipe::autoschedule
