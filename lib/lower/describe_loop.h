#pragma once
// Names of loops in error messages.

#include <string>

#include "graph/graph.h"
#include "region/loop_tree.h"

namespace Pipe::lower {

/// "x of blur.update(0) (blur.cpp:12)" for the loop "blur.s1.x" of a graph; other loops, and loops
/// without a graph, have their own names.
inline std::string describe_loop(const graph::Graph *graph, const std::string &loop) {
    if (!graph)
        return loop;
    for (const graph::FuncNode &func : graph->funcs)
        for (size_t stage = 0; stage < func.stages.size(); stage++) {
            const std::string prefix = region::stage_name(func, static_cast<int>(stage)) + ".";
            if (!loop.starts_with(prefix))
                continue;
            return loop.substr(prefix.size()) + " of " + located_name(func, stage);
        }
    return loop;
}

}  // namespace Pipe::lower
