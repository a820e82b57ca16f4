#pragma once
// Options of the autoscheduler.

#include <cstdint>
#include <string>

namespace Pipe {

/// Options of Pipeline::autoschedule().
struct AutoscheduleOptions {
    /// How schedules for a CPU are searched. All but Best are published systems, rebuilt on Pipe's
    /// analysis and code generation, to compare with.
    enum class Strategy : uint8_t {
        Best,           ///< Pipe's own search
        DPFusion,       ///< Jangda 2020: dynamic programming over fusions and tile sizes
        ReuseAnalysis,  ///< Sioutas 2019: compute and store levels by the reuse of data
        PostTiling,     ///< Zhao 2020: live-outs are tiled first, then their producers are fused
        Greedy,  ///< PolyMage's greedy fusion with fixed tile sizes, the baseline of Jangda 2020
    };
    static constexpr Strategy strategies[] = {Strategy::Best, Strategy::DPFusion,
                                              Strategy::ReuseAnalysis, Strategy::PostTiling,
                                              Strategy::Greedy};
    Strategy strategy = Strategy::Best;
    /// Number of cores to schedule for; 0 = get_num_threads().
    int cores = 0;
    /// Cache sizes in bytes for which tiles are chosen: L1 and L2 of one core, and the last level
    /// shared by all cores; 0 = those of this machine, of the last level at most 8 MiB per core: a virtual machine
    /// of few cores shares it with others.
    int64_t l1_bytes = 0;
    int64_t l2_bytes = 0;
    int64_t l3_bytes = 0;
    /// Bytes per clock that all cores together move from and to memory while they copy; 0 = as measured on this
    /// machine, once (the environment variable PIPE_MACHINE). The less it is, the more is fused.
    double memory_rate = 0;
    /// After this many milliseconds the search ends with the best schedule found so far.
    double time_budget_ms = 1000;
    /// Maximum number of Funcs fused in one step of the search; 0 = chosen by the size of the
    /// pipeline. Larger values search more and take longer.
    int group_limit = 0;
};

/// "Best", "DPFusion" and so on.
std::string to_string(AutoscheduleOptions::Strategy strategy);

}  // namespace Pipe
