#pragma once
// Bounds queries: an extern stage is asked which boxes of what it reads it needs.

#include <string>
#include <utility>
#include <vector>

#include "graph/graph.h"
#include "region/touched.h"

namespace Pipe::region {

/// What an extern stage answers.
struct Asked {
    Box output;      ///< what it computes
    Touched inputs;  ///< per Func or image
};

/// The question, as lets that are to stand in this order: raw buffers without memory for all that
/// the C function reads and writes, the call, and then what the buffers say. The answer names these
/// lets.
struct Query {
    std::vector<std::pair<std::string, Expr>> lets;
    Asked answer;
};

/// Asks for the box `output`; the lets' names begin with `prefix`. Until the function says
/// otherwise, of a Func that it reads the same box is needed (in further dimensions one element),
/// of an image all. Where the box is empty, the function is not called.
Query extern_query(const graph::Graph &graph, const graph::FuncNode &func,
                   const std::string &prefix, const Box &output);

}  // namespace Pipe::region
