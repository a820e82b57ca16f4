#pragma once
// The names in a frozen graph.

#include <set>
#include <string>
#include <vector>

#include "graph/graph.h"

namespace Pipe::graph {

/// The name itself, or with "$1", "$2", ... if it is taken. Adds the result to `taken`.
std::string unique_name(const std::string &name, std::set<std::string> &taken);

/// "photo_png" for "photo.png": dots separate a name from those derived from it (f.0 of a Tuple,
/// in.extent.0), so user's names must not contain them.
std::string without_dots(std::string name);

/// The name as a C++ identifier.
std::string identifier(const std::string &name);

/// The Variables for the shape of a buffer: "in.min.0", "in.extent.0", "in.stride.0", ...
std::vector<std::string> shape_names(const std::string &buffer, size_t dimensions);
/// Those of all images, and of all Funcs (of which outputs have a buffer).
std::set<std::string> shape_names(const Graph &graph);

}  // namespace Pipe::graph
