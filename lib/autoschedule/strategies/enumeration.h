#pragma once
// The number of groups that the dynamic program of Jangda 2020 (Algorithm 1) enumerates, as its Tables 1
// and 9 count them.

#include "autoschedule/grouping.h"

namespace Pipe::autoschedule {

/// The groups that can be grown from a stage by adding consumers of its members, one at a time, unless
/// this closes a cycle: a consumer that another consumer of the group is on the way to is not added
/// before that one. Several sources get a common producer, which counts as a stage. These groups may
/// have several live-outs, unlike those of group(). Stops at `most`.
/// \param alone per stage: it is in no group with others (a reduction)
/// \param group_limit stages in a group
long groups_grown_forward(const Dag &dag, std::vector<bool> alone, int group_limit, long most);

}  // namespace Pipe::autoschedule
