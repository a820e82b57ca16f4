#pragma once
// Converts the user's Funcs to an immutable Graph and the Schedule given by their directives.

#include <map>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "language/contents.h"
#include <pipe/func.h>
#include <pipe/target.h>

namespace Pipe::language {

/// Replacements for C functions named by expressions and extern stages.
using ExternNames = std::map<std::string, std::string>;

/// Does not own the Funcs from which it was made, because the compiled code is stored in one of
/// them (FuncContents::compiler).
struct Frozen {
    Graph graph;
    schedules::Schedule schedule;
    /// The user's objects: of Graph::images (null for a Buffer used in an expression), of Graph::scalars.
    std::vector<std::shared_ptr<const ImageContents>> images;
    std::vector<std::shared_ptr<const ParamContents>> scalars;
    /// The state of every Func, image and Param in it, to detect later changes.
    std::vector<Stamp> stamps;
};

/// Everything that the outputs need, producers before consumers. Order and names follow from the
/// definitions alone (not from other objects in the process):
///  1. Funcs in depth-first order of their uses; a name that is taken gets "$1", "$2", ...
///  2. generated names (Var(), RDom, Param(), ...) become "v", "v$1", ...
///  3. expressions without referents (graph.h describes their names); target queries become
///     constants;
///  4. levels by FuncId; a level that names a Func without stage is resolved to the stage that has
///     the loop; outputs are computed at root; the default store level is the compute level.
/// A C function is called by the name given in `extern_names`, else by its own.
/// CompileErrors: an undefined output; a level of a Func that is not in the pipeline, or of a loop
/// that does not exist.
Frozen freeze(const std::vector<Func> &outputs, const Target &target = get_host_target(),
              const std::vector<Requirement> &requirements = {},
              const ExternNames &extern_names = {});

/// The objects behind the Funcs of the frozen graph, in its order.
std::vector<std::shared_ptr<const FuncContents>> funcs_of(const std::vector<Func> &outputs);

}  // namespace Pipe::language
