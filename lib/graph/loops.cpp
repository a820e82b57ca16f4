#include "graph/loops.h"

#include "graph/extern_stage.h"

namespace Pipe::graph {

std::vector<schedules::Dim> initial_loops(const std::vector<std::string> &args,
                                          const Stage &stage) {
    std::vector<schedules::Dim> loops;
    if (extern_definition(stage))
        return loops;
    for (const ReductionVar &r : stage.rvars)
        loops.push_back({r.name, LoopKind::Serial, true});
    for (size_t i = 0; i < args.size(); i++)
        if (stage.args[i]->op == ir::Op::Variable && stage.args[i]->name == args[i])
            loops.push_back({args[i], LoopKind::Serial, false});
    return loops;
}

schedules::FuncSchedule without_directives(const schedules::FuncSchedule &given,
                                           const std::vector<std::string> &args,
                                           const std::vector<Stage> &stages) {
    schedules::FuncSchedule result;
    result.bounds = given.bounds;
    result.estimates = given.estimates;
    result.trace = given.trace;
    result.memoize = given.memoize;
    result.no_profiling = given.no_profiling;
    for (const Stage &stage : stages)
        result.stages.emplace_back().dims = initial_loops(args, stage);
    return result;
}

}  // namespace Pipe::graph
