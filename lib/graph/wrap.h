#pragma once
// in() and clone_in(): what a Func reads where its definition names something that has wrappers.

#include <memory>
#include <vector>

#include "graph/contents.h"

namespace Pipe::graph {

/// What `reader` reads in place of `named`: its wrapper for `reader`, else the wrapper for all, and
/// so on with the wrappers of that. Wrappers for all leave each other alone.
std::shared_ptr<const Wrappable> resolve(std::shared_ptr<const Wrappable> named,
                                         const FuncContents &reader);

/// The Funcs that `reader` reads once wrappers are in place, in order of first use.
std::vector<std::shared_ptr<const FuncContents>> callees(const FuncContents &reader);

/// CompileError where a wrapper was made for `reader`, which does not read what it wraps.
void check_wrappers(const FuncContents &reader);

}  // namespace Pipe::graph
