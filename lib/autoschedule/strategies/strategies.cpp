#include "autoschedule/strategies/strategies.h"

namespace Pipe {

std::string to_string(AutoscheduleOptions::Strategy strategy) {
    using Strategy = AutoscheduleOptions::Strategy;
    switch (strategy) {
    case Strategy::Best:
        return "Best";
    case Strategy::DPFusion:
        return "DPFusion";
    case Strategy::ReuseAnalysis:
        return "ReuseAnalysis";
    case Strategy::PostTiling:
        return "PostTiling";
    case Strategy::Greedy:
        return "Greedy";
    }
    return "";
}

}  // namespace Pipe

namespace Pipe::autoschedule {

SearchResult search_by_strategy(const StageGraph &graph, const Machine &machine,
                                const AutoscheduleOptions &options) {
    using Strategy = AutoscheduleOptions::Strategy;
    if (machine.gpu)
        return search(graph, machine, options);
    switch (options.strategy) {
    case Strategy::Best:
        return search(graph, machine, options);
    case Strategy::DPFusion:
        return dp_fusion(graph, machine, options);
    case Strategy::ReuseAnalysis:
        return reuse_analysis(graph, machine, options);
    case Strategy::PostTiling:
        return post_tiling(graph, machine, options);
    case Strategy::Greedy:
        return greedy(graph, machine, options);
    }
    return {};
}

}  // namespace Pipe::autoschedule
