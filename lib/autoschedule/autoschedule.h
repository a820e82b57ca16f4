#pragma once
// The autoscheduler: from a graph, the user's directives and sizes to a complete Schedule.
//
//   poly::model        domains, access maps                      poly/
//   StageGraph         costs and roles of Funcs                  stage_graph.h
//   inlining           what is substituted                       inlining.h
//   grouping           which Funcs are fused (Jangda 2020, Alg. 1)  grouping.h
//   GroupModel         cost and tiles of one group (Alg. 2, 4)   group_model.h
//   strategies/        published schedulers instead of the search
//   apply              plans -> directives                       apply.h
//   alternatives       several schedules, for tuning             alternatives.h

#include <string>
#include <unordered_map>
#include <vector>

#include "autoschedule/figures.h"
#include "autoschedule/machine.h"
#include "autoschedule/plan.h"
#include "graph/graph.h"
#include <pipe/autoschedule.h>
#include <pipe/schedule.h>

namespace Pipe::autoschedule {

/// The sizes to optimize for. The schedule is correct for every size.
struct Sizes {
    struct Dim {
        int64_t min = 0;
        int64_t extent = 0;  ///< 0 = unknown: a typical size is assumed
        int64_t stride = 0;  ///< in elements; 0 = unknown
    };
    std::vector<std::vector<Dim>>
        outputs;  ///< per output of the graph, in the order of Graph::outputs
    std::unordered_map<std::string, std::vector<Dim>> images;  ///< by Image::name
    std::unordered_map<std::string, int64_t> scalars;  ///< integer Params whose values are known
};

struct Report {
    std::vector<Plan> plans;           ///< one per group, inputs first
    std::vector<std::string> inlined;  ///< names of the Funcs that were inlined
    std::vector<std::string> unrolled;  ///< of those whose updates were unrolled
    std::vector<std::string> kept;     ///< names of the Funcs whose loops are scheduled by the user
    std::vector<std::string>
        packed;  ///< "filter.in(conv)": copies of operands, their elements side by side
    std::vector<std::string> notes;  ///< limitations of the model
    Machine machine;
    AutoscheduleOptions::Strategy strategy = AutoscheduleOptions::Strategy::Best;
    double cost = 0;  ///< predicted clocks
    long groups_evaluated = 0;
    bool complete = true;  ///< the search saw every valid grouping
    double model_ms = 0, search_ms = 0;
    std::vector<GroupFigure> figures;  ///< of the plans
    std::string text;                  ///< the report as text
};

struct Result {
    graph::Graph graph;  ///< with the copies of operands that the schedule needs (graph/pack.h)
    schedules::Schedule schedule;
    Report report;
};

/// Completes the user's schedule, whose directives are kept. Deterministic: the result depends on
/// the arguments only. What cannot be modeled is computed at root, parallel and vectorized.
Result schedule(const graph::Graph &graph, const schedules::Schedule &user, const Sizes &sizes,
                const Machine &machine, const AutoscheduleOptions &options = {});

/// Without a search: Funcs without directives are computed at root, the outermost loops of their pure
/// definitions parallel.
schedules::Schedule at_root(const graph::Graph &graph, const schedules::Schedule &user);

}  // namespace Pipe::autoschedule
