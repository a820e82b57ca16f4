#pragma once
// From the user's Funcs to an immutable Graph and the Schedule that was written by hand.

#include <map>
#include <string>
#include <vector>

#include "graph/contents.h"
#include "graph/graph.h"
#include <pipe/func.h>
#include <pipe/target.h>

namespace Pipe::graph {

/// Other C functions in place of those that expressions and extern stages name.
using ExternNames = std::map<std::string, std::string>;

/// Does not hold the Funcs that it was made of: what is compiled from it is kept in one of them
/// (FuncContents::compiler).
struct Frozen {
    Graph graph;
    schedules::Schedule schedule;
    /// Of every Func, image and Param in it: out of date when one changes.
    std::vector<Stamp> stamps;
};

/// Everything that the outputs need, producers before consumers, in an order and with names that
/// follow from the definitions alone (not from what else the process built):
///  1. Funcs in depth-first order of their uses; a name that is taken gets "$1", "$2", ...
///  2. names that nobody chose (Var(), RDom, Param(), ...) become "v", "v$1", ...
///  3. expressions without referents (graph.h says how they name things); what they ask of the
///     target is answered;
///  4. levels by FuncId; a level that names a Func without stage finds the stage that has the loop;
///     outputs are computed at root; a store level that was not given is the compute level.
/// A C function is called by the name that `extern_names` has for its own.
/// CompileErrors: an undefined output, a level of a Func that is not in the pipeline, or of a loop
/// that it has not.
Frozen freeze(const std::vector<Func> &outputs, const Target &target = get_host_target(),
              const std::vector<Requirement> &requirements = {},
              const ExternNames &extern_names = {});

/// What the Funcs of the frozen graph are made of, in its order.
std::vector<std::shared_ptr<const FuncContents>> funcs_of(const std::vector<Func> &outputs);

}  // namespace Pipe::graph
