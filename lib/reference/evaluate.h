#pragma once
// Evaluates a Graph by definition: without a schedule or bounds inference, slow and simple.
// Compiled code is tested against it.
//
// Method: sweeps over the Funcs.
//   1. The elements of the output buffers are requested.
//   2. A point of a pure Func is evaluated when it is requested, and requests what it reads. Where it reads a Func
//      with updates or an extern stage, the value does not exist yet: it is Unknown. An operation on an Unknown
//      is Unknown; a read at Unknown coordinates requests nothing.
//   3. Consumers before producers, Funcs with updates and extern stages are evaluated where they are requested, and
//      request what they read.
//   4. Producers before consumers, the same again, and pure Funcs at the points that were Unknown: now the values
//      exist.
//   5. Coordinates that were Unknown before (gathers) request more in 4: 3 and 4 are repeated until nothing is Unknown.
// A pure Func is evaluated exactly at the requested points. A Func with updates is evaluated on the
// smallest box that contains them: the pure definition over the box, then each update in order over
// all its RVars (the first RVar innermost) and those points of its pure variables that lie in the
// box; stores outside the box are dropped. If an update reads its own Func outside the box, the box
// is extended to that point and the Func is evaluated again: at the fixed point, no value inside
// depends on one outside. An extern stage also computes such a box.

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "graph/graph.h"

namespace Pipe::reference {

struct Options {
    /// Throw RuntimeError if the language leaves the result undefined: overflow of int32 or int64,
    /// a float out of the range of the integer to which it is cast. Otherwise such results wrap or
    /// saturate.
    bool reject_undefined = false;
    /// Runs a call of an extern stage (graph::call_extern_stage) whose arguments are Variables with
    /// these bits as their values. Throws RuntimeError if the C function fails.
    std::function<void(const Expr &call, const std::vector<uint64_t> &bits)> call_extern;
};

/// Fills `outputs`: one buffer per tuple element of each Func of graph.outputs, in that order.
/// `inputs`: the buffer of every image that is not bound in the graph, by name. `scalars`: the
/// address of the value of every scalar Param, by name. Throws RuntimeError if a buffer is missing
/// or has the wrong type, or if an image is read outside its bounds: the message contains the
/// image, dimension, coordinate, range, Func and point.
void evaluate(const graph::Graph &graph, const std::vector<BufferView> &outputs,
              const std::map<std::string, BufferView> &inputs,
              const std::map<std::string, const void *> &scalars, const Options &options = {});

}  // namespace Pipe::reference
