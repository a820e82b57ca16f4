#pragma once
// Bounds queries: the C function of an extern stage determines the regions that it reads.

#include <string>
#include <utility>
#include <vector>

#include "graph/graph.h"
#include "region/touched.h"

namespace Pipe::region {

/// The answer of an extern stage.
struct ExternRegions {
    Box output;      ///< computed by it
    Touched inputs;  ///< read by it, per Func or image
};

/// The query as a sequence of lets: raw buffers without memory for everything that the C function
/// reads and writes, the call, and then the shapes in the buffers. `answer` refers to these lets.
struct Query {
    std::vector<std::pair<std::string, Expr>> lets;
    ExternRegions answer;
};

/// Queries with the box `output`; the names of the lets begin with `prefix`. Initially, the region
/// of each input Func is the same box (one element in further dimensions), and of each image all of
/// it. If the box is empty, the function is not called.
Query extern_query(const graph::Graph &graph, const graph::FuncNode &func,
                   const std::string &prefix, const Box &output);

}  // namespace Pipe::region
