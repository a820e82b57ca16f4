#pragma once
// Versions of a pipeline: specialize() makes one per condition, and one for the rest.

#include <string>
#include <utility>
#include <vector>

#include "graph/graph.h"
#include "ir/stmt_node.h"
#include <pipe/schedule.h>

namespace Pipe::lower {

/// What the passes change. A pipeline has one version until the pass "specialize".
struct Version {
    struct Condition {
        Expr value;
        bool holds;
    };

    graph::Graph graph;
    schedules::Schedule schedule;
    std::vector<Condition> conditions = {};  ///< of which it is the version, the first tested first
    std::vector<std::pair<std::string, Expr>> known = {};  ///< variables that these give one value
    std::string failure = {};  ///< the message of specialize_fail(); "": none
    ir::Stmt loops = {};       ///< undefined before the pass "build"
};

/// The versions, those for which a condition holds before those for which it does not.
std::vector<Version> specialized(Version whole);

/// The loops of all versions, each behind its conditions.
ir::Stmt joined(const std::vector<Version> &versions);

}  // namespace Pipe::lower
