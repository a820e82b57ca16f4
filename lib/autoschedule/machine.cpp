#include "autoschedule/machine.h"

#include <algorithm>
#include <thread>

#include <unistd.h>

#include <fmt/format.h>

#include "support/env.h"

namespace Pipe::autoschedule {

namespace {

int64_t cache_bytes(int sysconf_name, int64_t otherwise) {
    const long bytes = sysconf(sysconf_name);
    return bytes > 0 ? bytes : otherwise;
}

int host_cores() {
    const int threads = support::env_int("OMP_NUM_THREADS", 0);
    if (threads > 0) return threads;
    return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

}  // namespace

Machine host_machine(const Target &target, const AutoscheduleOptions &options) {
    Machine m;
#ifdef _SC_LEVEL1_DCACHE_SIZE
    m.l1_bytes = cache_bytes(_SC_LEVEL1_DCACHE_SIZE, m.l1_bytes);
    m.l2_bytes = cache_bytes(_SC_LEVEL2_CACHE_SIZE, m.l2_bytes);
    m.l3_bytes = cache_bytes(_SC_LEVEL3_CACHE_SIZE, m.l3_bytes);
#endif
    m.cores = options.cores > 0 ? options.cores : host_cores();
    if (options.l1_bytes > 0) m.l1_bytes = options.l1_bytes;
    if (options.l2_bytes > 0) m.l2_bytes = options.l2_bytes;
    if (options.l3_bytes > 0) m.l3_bytes = options.l3_bytes;
    m.l2_bytes = std::max(m.l2_bytes, m.l1_bytes);
    m.l3_bytes = std::max(m.l3_bytes, m.l2_bytes);
    m.vector_bytes = target.natural_vector_size(UInt(8));
    return m;
}

std::string to_string(const Machine &m) {
    return fmt::format("{} cores, {} byte vectors, L1 {} KiB, L2 {} KiB, L3 {} KiB", m.cores,
                       m.vector_bytes, m.l1_bytes >> 10, m.l2_bytes >> 10, m.l3_bytes >> 10);
}

}  // namespace Pipe::autoschedule
