#include "autoschedule/machine.h"

#include <algorithm>

#include <fmt/format.h>

#include "support/processors.h"

namespace Pipe::autoschedule {

namespace {

/// The value if known, else `otherwise`.
int64_t known(int64_t bytes, int64_t otherwise) {
    return bytes > 0 ? bytes : otherwise;
}

/// What this process may expect of the shared cache. A virtual machine of two cores is told of all 300 MiB of a server
/// with a hundred cores, on which others run; few processors have more than this for each core.
int64_t share_of_l3(int64_t bytes) {
    constexpr int64_t most_per_core = 8 << 20;
    return std::min(bytes, most_per_core * support::usable_processors());
}

int vector_registers(const Target &target) {
    return target.arch == Target::X86 && !target.has_feature(Target::AVX512) ? 16 : 32;
}

}  // namespace

Machine host_machine(const Target &target, const AutoscheduleOptions &options) {
    Machine m;
    const support::Topology &here = support::topology();
    m.l1_bytes = known(here.l1_bytes, m.l1_bytes);
    m.l2_bytes = known(here.l2_bytes, m.l2_bytes);
    m.l3_bytes = share_of_l3(known(here.l3_bytes, m.l3_bytes));
    m.cores = options.cores > 0 ? options.cores : support::default_threads();
    if (options.l1_bytes > 0)
        m.l1_bytes = options.l1_bytes;
    if (options.l2_bytes > 0)
        m.l2_bytes = options.l2_bytes;
    if (options.l3_bytes > 0)
        m.l3_bytes = options.l3_bytes;
    m.l2_bytes = std::max(m.l2_bytes, m.l1_bytes);
    m.l3_bytes = std::max(m.l3_bytes, m.l2_bytes);
    if (options.memory_rate > 0)
        m.dram_rate_all_cores = options.memory_rate;
    m.fast_math = target.has_feature(Target::FastMath);
    m.vector_bytes = target.natural_vector_size(UInt(8));
    m.vector_registers = vector_registers(target);
    m.gpu = gpu_of(target);
    return m;
}

std::string to_string(const Machine &m) {
    const std::string gpu =
        m.gpu ? fmt::format("{} (GPU, {} multiprocessors, L2 {} MiB), host: ", m.gpu->name,
                            m.gpu->multiprocessors, m.gpu->l2_bytes >> 20)
              : "";
    return fmt::format("{}{} cores, {} byte vectors, L1 {} KiB, L2 {} KiB, L3 {} KiB, memory "
                       "{:.3g} bytes per clock",
                       gpu, m.cores, m.vector_bytes, m.l1_bytes >> 10, m.l2_bytes >> 10,
                       m.l3_bytes >> 10, m.dram_rate_all_cores);
}

}  // namespace Pipe::autoschedule
