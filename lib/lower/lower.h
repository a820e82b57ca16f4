#pragma once
// From a scheduled graph to a Program: the ordered table of passes.

#include <functional>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "ir/program.h"
#include "poly/races.h"
#include <pipe/target.h>

namespace Pipe::lower {

struct LowerOptions {
    std::string name = "pipeline";
    /// Inputs and outputs whose stride in dimension 0 is 1: the kernel checks it, and is faster for it.
    std::vector<std::string> dense;
    /// What poly::check_races answered: loops that need accumulators of their own.
    std::vector<poly::SharedLoop> shared_loops;
    /// Makes code that is right for every size, however small. Without it, Auto tails shift inwards: the
    /// code is faster, and the kernel returns a Failure (before it computes anything) where an extent is
    /// smaller than a split's factor, or where the shifted loops would read more than the inputs hold.
    bool any_size = false;
    /// Outputs that lie in the memory of inputs: those for which in_place_obstacle() is "". The kernel is
    /// right only where they do.
    std::vector<ir::InPlace> in_place;
    /// Tell of begin and end of the pipeline (trace.h).
    bool trace_pipeline = false;
    /// Called after each pass with its name and what it left.
    std::function<void(const std::string &pass, const ir::Stmt &)> after_pass;
    /// Called after each pass with the milliseconds that it took; once per branch of a specialization.
    std::function<void(const std::string &pass, double ms)> timed;
    /// Stop after the pass of this name (for dumps and golden tests).
    std::string stop_after;
    /// Check the loop IR after each pass. Default: in debug builds.
#ifdef NDEBUG
    bool verify = false;
#else
    bool verify = true;
#endif
};

/// `graph` has been through inline_funcs; `schedule` is legal (graph::check). Throws CompileError where
/// what the user wrote cannot be compiled (an unbounded access, a loop that cannot be unrolled).
ir::Program lower(const graph::Graph &graph, const schedules::Schedule &schedule,
                  const Target &target, const LowerOptions &options = {});

/// What a kernel of the graph takes: images, scalars, outputs.
std::vector<ir::Argument> arguments(const graph::Graph &graph);

/// The names of the passes in their order.
std::vector<std::string> pass_names();

}  // namespace Pipe::lower
