#pragma once
// From a Pipeline's outputs and settings to a graph with its final, legal schedule.

#include <optional>
#include <string>
#include <vector>

#include "autoschedule/alternatives.h"
#include "autoschedule/autoschedule.h"
#include "driver/arguments.h"
#include "language/freeze.h"
#include "poly/races.h"
#include <pipe/autoschedule.h>
#include <pipe/pipeline.h>

namespace Pipe::driver {

/// Options of compilation besides the user's directives.
struct Settings {
    Target target;  ///< ArchUnknown: the host
    std::optional<AutoscheduleOptions> autoschedule;
    bool trace_pipeline = false;
    std::vector<graph::Requirement> requirements = {};
    language::ExternNames extern_names = {};
};

/// A graph with its final, legal schedule.
struct Scheduled {
    language::Frozen frozen;  ///< schedule: the final one
    graph::Graph inlined;
    std::vector<poly::SharedLoop> shared_loops;  ///< they need private accumulators
    struct Given {
        graph::Graph graph;
        schedules::Schedule schedule;  ///< for this graph
    };
    std::optional<Given> user;    ///< what the user gave, if the autoscheduler completed it
    AutoscheduleOptions options;  ///< the autoscheduler's
    size_t fallbacks_used = 0;    ///< how many replacements of its schedule were tried: fall_back()
    /// That one was needed: for the user, once a schedule compiles. (If none does, the error says why.)
    std::string fallback_warning;
    bool fast_math = false;       ///< the target has Target::FastMath
    bool unscheduled = false;     ///< no Func has a directive, and there is no autoscheduler
    autoschedule::Report report;  ///< of the autoscheduler
    autoschedule::Sizes sizes;    ///< for which it chose
    double freeze_ms = 0, schedule_ms = 0;
};

/// Freezes, schedules and checks. The sizes for the autoscheduler are the estimates, else those of
/// `outputs` (may be null) and of the inputs that are set.
Scheduled make_schedule(const std::vector<Func> &outputs, const Settings &settings,
                        const Outputs *buffers);

/// Whether any Func has a directive.
bool has_directives(const schedules::Schedule &schedule);

/// Several schedules for the sizes of these Buffers, which keep the directives, those of the published
/// schedulers among them: see autoschedule/alternatives.h. `settings.autoschedule` has to be set.
std::vector<autoschedule::Alternative> alternatives(const language::Frozen &frozen,
                                                    const Settings &settings,
                                                    const Outputs &buffers, size_t count);

/// Makes a schedule the final one, with the graph that it is for. CompileError if it is not legal.
void take_schedule(Scheduled &scheduled, graph::Graph graph, schedules::Schedule schedule);

/// Whether there is a further replacement of the autoscheduler's schedule.
bool can_fall_back(const Scheduled &scheduled);
/// Replaces the autoscheduler's schedule, which cannot be used because of `why`, by the next best that is
/// legal, and says so in the report and in fallback_warning. Requires can_fall_back().
void fall_back(Scheduled &scheduled, const std::string &why);

}  // namespace Pipe::driver
