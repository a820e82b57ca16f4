#pragma once
// Demand: the box of every stage, loop and input that one run of the pipeline needs. Ends of boxes are
// expressions of sizes and Params, of the loops around, and of lets (names.h).

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "region/loop_tree.h"
#include "region/touched.h"

namespace Pipe::region {

/// What one stage computes and reads.
struct StageDemand {
    /// The domain of the stage's loops at its compute level, per pure variable. For a sliding window:
    /// only the new part.
    Box domain;
    /// The range of every loop and of every intermediate variable of the stage's nest.
    std::map<std::string, Range> ranges;
    /// The selects in the definition of which only the chosen arm may be evaluated.
    Choices choices;
    /// The boxes that it reads of each input image, at the root.
    std::map<std::string, Box> images;
    /// The region that readers and later definitions need in the whole pipeline, regardless of bounds,
    /// and the same for one computation. Empty where nothing is checked against it: `needed` is given
    /// for outputs and for Funcs with bounds, `needed_once` for Funcs with bounds computed inside loops.
    Box needed, needed_once;
    /// Of an output: the elements that the loops access. More than the domain if a tail rounds up.
    Box computed;
    /// Per prefetch directive whose loop the stage has: the region that the source's later iteration
    /// reads.
    std::vector<std::optional<Box>> prefetched;
};

struct Demand {
    /// By Func and stage; empty for Funcs that are inlined.
    std::vector<std::vector<StageDemand>> stages;
    /// The range of each loop; of shared loops (compute_with), over all stages that share it.
    std::map<Level, Range> loops;
    /// The box of each input image that the whole pipeline reads; empty if it reads none of it.
    std::map<std::string, Box> images;
    /// The region of each output that other Funcs read; empty without readers.
    std::map<FuncId, Box> outputs_read;

    const StageDemand &of(FuncId func, int stage) const {
        return stages[static_cast<size_t>(func)][static_cast<size_t>(stage)];
    }
    const StageDemand &of(const StageNest &nest) const { return of(nest.func, nest.stage); }
    const Range &loop(const Level &level) const { return loops.at(level); }
};

}  // namespace Pipe::region
