#pragma once
// The rules of the layers (CONTRIBUTING.md has the map), checked on the text of the sources.

#include <map>
#include <string>
#include <vector>

namespace layers {

/// Path from the top of the repository -> text of the file.
using Tree = std::map<std::string, std::string>;

/// All .h and .cpp files in include/, lib/ and jit/ below `root`.
Tree read_tree(const std::string &root);

/// One line for each breach:
///  - a layer includes a layer that is not below it, or a public header of such a layer
///  - files that include each other in a ring
///  - isl outside lib/poly, LLVM outside lib/codegen and jit, either or CUDA in include/pipe
///  - getenv outside lib/support
///  - a layer or a public header that the table of layers does not know
std::vector<std::string> breaches(const Tree &tree);

}  // namespace layers
