#pragma once
// Lowering: the ordered table of passes from a scheduled graph to a Program.

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
    /// Strides of inputs and outputs, used for faster code: 1 in dimension 0 of dense Buffers, for
    /// example.
    std::vector<ir::KnownStride> strides;
    /// The result of poly::check_races: loops that need private accumulators.
    std::vector<poly::SharedLoop> shared_loops;
    /// Generates code that is correct for every size. Without it, Auto tails shift inwards: the
    /// code is faster, and the kernel returns a Failure (before it computes anything) if an extent
    /// is smaller than a split factor, or if the shifted loops would read more than the inputs
    /// contain.
    bool any_size = false;
    /// Outputs that share memory with inputs: pairs for which in_place_obstacle() is "". The kernel
    /// is correct only for these pairs.
    std::vector<ir::InPlace> in_place;
    /// Trace begin and end of the pipeline (trace.h).
    bool trace_pipeline = false;
    /// Called with the text of the region plan (region/plan_print.h) before the loops are built; once
    /// per version of the pipeline (lower/versions.h).
    std::function<void(const std::string &plan)> after_plan;
    /// Called after each pass that makes loops with its name and result; once per version.
    std::function<void(const std::string &pass, const ir::Stmt &)> after_pass;
    /// Called after each pass with the time in milliseconds, of all versions together.
    std::function<void(const std::string &pass, double ms)> timed;
    /// Stop after the pass of this name (for dumps and golden tests).
    std::string stop_after;
    /// Check the region plan, and the loop IR after each pass. Default: in debug builds.
#ifdef NDEBUG
    bool verify = false;
#else
    bool verify = true;
#endif
};

/// `graph` is the result of inline_funcs; `schedule` is legal (graph::check). Throws CompileError
/// if the user's program cannot be compiled (an unbounded access, a loop that cannot be unrolled).
ir::Program lower(const graph::Graph &graph, const schedules::Schedule &schedule,
                  const Target &target, const LowerOptions &options = {});

/// The arguments of a kernel of the graph: images, scalars, outputs.
std::vector<ir::Argument> arguments(const graph::Graph &graph);

/// The names of the passes in order.
std::vector<std::string> pass_names();

}  // namespace Pipe::lower
