#pragma once
// Evaluates a Graph by definition: no schedule, no region inference, slow and obviously right. What
// the compiled code is tested against.
//
// How: by repeated sweeps over the Funcs.
//   1. The elements of the output buffers are asked for.
//   2. Consumers before producers, every Func is evaluated at the points at which it has been asked
//      for. Reading a value that is not there yet asks for it and gives Unknown; an operation on an
//      Unknown is Unknown; a read at Unknown coordinates asks for nothing.
//   3. Producers before consumers, the same again: now the values are there.
//   4. Coordinates that were Unknown in 2 (gathers) ask for more in 3: repeat 2 and 3 until nothing
//      is Unknown.
// A pure Func is evaluated exactly at the points asked for. A Func with updates is evaluated on the
// smallest box that holds them: pure definition over the box, then each update in order over all
// its RVars (the first RVar innermost) inside the box's points of its pure variables; stores
// outside the box are dropped. If an update reads its own Func outside the box, the box grows to
// hold that point and the Func starts over: at the fixed point, no value inside depends on one
// outside. An extern stage computes such a box, too.

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "graph/graph.h"

namespace Pipe::reference {

struct Options {
    /// Throw RuntimeError where the language leaves the result undefined: overflow of int32 or
    /// int64, a float out of the range of the integer it is cast to. Else such results wrap or
    /// saturate.
    bool reject_undefined = false;
    /// Runs a call of an extern stage (graph::call_extern_stage) whose arguments are Variables with
    /// these bits as their values. Throws RuntimeError where the C function fails.
    std::function<void(const Expr &call, const std::vector<uint64_t> &bits)> call_extern;
};

/// Fills `outputs`: one buffer per tuple element of each Func of graph.outputs, in that order.
/// `inputs`: the buffer of every image that is not bound in the graph, by name. `scalars`: the
/// address of the value of every scalar Param, by name. Throws RuntimeError where a buffer is
/// missing or of the wrong type, or where an image is read outside its range: the message names the
/// image, dimension, coordinate, range, Func and point.
void evaluate(const graph::Graph &graph, const std::vector<BufferView> &outputs,
              const std::map<std::string, BufferView> &inputs,
              const std::map<std::string, const void *> &scalars, const Options &options = {});

}  // namespace Pipe::reference
