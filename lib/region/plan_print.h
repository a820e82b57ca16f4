#pragma once
// Text of the plans, for dumps (PIPE_DUMP) and golden files.

#include <string>

#include "region/plan.h"

namespace Pipe::region {

const char *to_string(Tail tail);

/// Each section has a heading of its own; stages are named as their loops are ("f.s0").
std::string to_string(const Demand &demand, const LoopTree &tree);
std::string to_string(const StoragePlan &storage, const LoopTree &tree);
std::string to_string(const TailPlan &tails, const LoopTree &tree);
std::string to_string(const Names &names);
std::string to_string(const RegionPlan &plan);

}  // namespace Pipe::region
