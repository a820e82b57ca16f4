#pragma once
// Whose loop it is, for messages of passes.

#include <string>

#include "graph/graph.h"

namespace Pipe::lower {

/// " of blur (blur.cpp:12)" for the loop "blur.s0.x" of a graph; "" without graph or for other loops.
inline std::string origin(const graph::Graph *graph, const std::string &loop) {
    if (!graph)
        return "";
    std::string name = loop.substr(0, loop.find('.'));
    for (const graph::FuncNode &func : graph->funcs)
        if (func.name == name && func.where.known())
            return " of " + name + " (" + to_string(func.where) + ")";
    return "";
}

}  // namespace Pipe::lower
