#pragma once
// The loops of one stage inside of those over tiles: vectors, register blocks, RVars.

#include <string>
#include <vector>

#include "autoschedule/machine.h"
#include "autoschedule/new_loops.h"
#include "autoschedule/register_block.h"
#include "autoschedule/row_sharing.h"
#include "autoschedule/stage_graph.h"
#include <pipe/schedule.h>

namespace Pipe::autoschedule {

/// Lanes for a loop of `extent` iterations: a full vector, or less for a short loop; 1 = do not.
int64_t lanes_for(const Node &node, int64_t extent, const Machine &machine);

/// Vectorizes loop `name`; returns the loops that replace it, innermost first.
std::vector<schedules::Dim> vectorized(NewLoops &loops, const std::string &name, int64_t lanes);

/// Splits the loop `name`, one of `dims`, into blocks that are unrolled around the vector.
void unroll_rows(NewLoops &loops, const std::string &name, int64_t count,
                 std::vector<schedules::Dim> &dims);

/// The loops of a stage inside of its loops over tiles.
struct InnerLoops {
    NewLoops &loops;
    std::vector<std::string> names;  ///< per dimension; "" where the tile has no loop over it
    std::vector<schedules::Dim> reductions;
};

/// Unrolls the loops over short dimensions, innermost.
void unroll_channels(const InnerLoops &inner, const Node &node, std::vector<schedules::Dim> &dims);

/// \param names of the loops over the dimensions; "": none
InnerLoops inner_loops_of(const schedules::StageSchedule &stage, const StageCost &cost,
                          NewLoops &loops, std::vector<std::string> names);

struct StageLoops {
    std::vector<schedules::Dim> dims;  ///< innermost first
    std::optional<PackedOperand> packed;
    bool atomic = false;    ///< lanes of a vectorized RVar are added up before they are stored
    std::string packed_at;  ///< the loop inside of which it is copied; "": where the stage begins
};

/// The loops of a stage inside of those over tiles.
/// \param cores  that share the outermost of them
/// \param rows   of the pure definition: how many are computed together
/// \param order  of the dimensions, innermost first; empty: as in the definition
StageLoops loops_of_stage(InnerLoops inner, const graph::FuncNode &func, const Node &node, size_t s,
                          const std::vector<int64_t> &extents, const Machine &machine, int cores,
                          const Rows &rows = {}, const std::vector<int> &order = {});

/// A stage of a member whose rows, as many as a vector has lanes, lie side by side: [rows] [RVars, or
/// columns] [other pure loops]. The columns of the pure definition are unrolled, so that what it
/// reads is transposed (lower/share_strided_loads.h).
std::vector<schedules::Dim> transposed_loops(InnerLoops inner, const Rows &rows);

}  // namespace Pipe::autoschedule
