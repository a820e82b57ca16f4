#pragma once
// Graph: the frozen algorithm. Immutable; contains names and ids, no user objects.

#include <functional>
#include <string>
#include <vector>

#include "ir/expr_node.h"
#include <pipe/buffer.h>
#include <pipe/schedule.h>

namespace Pipe::graph {

/// One reduction variable and its range. Its name is unique within its Func.
struct ReductionVar {
    std::string name;
    Expr min, extent;  ///< int32; of Params, image extents and constants
};

/// One stage of a Func: the pure definition (stage 0) or an update.
struct Stage {
    std::vector<Expr> args;  ///< written coordinates; stage 0: the pure variables
    std::vector<Expr>
        values;  ///< one per tuple element; Calls name other Funcs, or this one (updates)
    std::vector<ReductionVar> rvars;  ///< innermost first
    Expr predicate;                   ///< RDom::where; undefined = everywhere
    SourceLocation where;
};

/// Calls f(e) on every expression of a definition but the ranges of its RVars.
template <typename AnyStage, typename F> void for_each_expr(AnyStage &stage, F &&f) {
    for (auto &e : stage.args)
        f(e);
    for (auto &e : stage.values)
        f(e);
    if (stage.predicate.defined())
        f(stage.predicate);
}

/// The user's promises about one dimension of a buffer; undefined Expr = none.
struct ShapePromise {
    Expr min, extent, stride, estimate_min, estimate_extent;
};

/// The user's promises about a buffer.
struct BufferPromise {
    std::vector<ShapePromise> dims;
    int host_alignment = 1;  ///< of the element with all coordinates at their minimum, in bytes
    std::vector<std::string> may_alias;  ///< of an output: inputs of the graph
};

/// One Func.
struct FuncNode {
    FuncId id = FuncId::None;
    std::string name;               ///< unique in the graph
    std::vector<std::string> args;  ///< pure variables in order of definition, innermost first
    std::vector<Type> types;        ///< one per tuple element
    std::vector<Stage> stages;      ///< at least one
    SourceLocation where;
    std::vector<FuncId>
        producers;  ///< Funcs that its stages read (itself excluded), ascending, unique
    std::vector<FuncId> consumers;
    bool is_output = false;
    std::vector<BufferPromise> output_promises;  ///< of an output, per value; empty = none
    bool is_copy = false;  ///< made by copy_for_stages: unknown to the C++ program
    bool holds_parts = false;  ///< of a reduction, to be combined: made by lower/private_accumulators.h
    /// Its C++ name: the name given by the user, if no other Func of the graph has it.
    std::string variable;
    bool is_declared = false;  ///< `variable` is that name
    /// How C++ creates a Func that was not declared: "f.in(g)".
    std::string made_by;
    /// Of a copy made by pack() (pack.h): the Func or image that is copied, and its reader, by their names in the graph.
    std::string packs, packed_for;

    bool has_updates() const { return stages.size() > 1; }
};

/// An input image (an ImageParam, or a Buffer used as a constant image).
struct Image {
    std::string name;  ///< unique in the graph, also among Funcs
    Type type;
    int dimensions = 0;
    bool is_named = true;  ///< an ImageParam to which the user gave a name
    Buffer<void>
        bound;  ///< defined for a Buffer used in an expression; else the image is an ImageParam
    BufferPromise promise;
    bool trace_loads = false;
    std::vector<std::string> trace_tags;
    SourceLocation where{};  ///< of the ImageParam, or of the first use of the Buffer
};

/// A scalar Param.
struct Scalar {
    std::string name;
    Type type;
};

/// Pipeline::add_requirement: a precondition of the pipeline.
struct Requirement {
    Expr condition;             ///< a bool of Params and sizes
    std::vector<Expr> message;  ///< values and strings
};

/// The algorithm: Funcs with producers before consumers.
///
/// Names in expressions:
///   Call Func   name = FuncNode::name, index = tuple element, int_value = static_cast<int>(FuncId)
///   Call Image  name = Image::name
///   Variable    a pure variable of the stage, a ReductionVar's name, or Scalar::name
///   Variable    "<image>.min.<d>", "<image>.extent.<d>" (int32), "<image>.stride.<d>" (int64): shape
///               of the buffer bound at run time
struct Graph {
    std::vector<FuncNode> funcs;  ///< indexed by FuncId; topological order
    std::vector<FuncId> outputs;
    std::vector<Image> images;
    std::vector<Scalar> scalars;
    std::vector<Requirement> requirements;

    const FuncNode &operator[](FuncId id) const { return funcs[static_cast<size_t>(id)]; }
};

/// The buffer that holds tuple element `index` of a Func: "f", or "f.0", "f.1", ...
inline std::string buffer_name(const FuncNode &func, size_t index) {
    return func.types.size() == 1 ? func.name : func.name + "." + std::to_string(index);
}

/// "Pipeline blur, edges (blur.cpp:12)": its outputs, and the location of the first; for errors:
/// the location is marked.
std::string description(const Graph &graph);

/// "f" or "f.update(0)".
std::string definition_name(const FuncNode &f, size_t stage);
/// The same with its source line, "f.update(0) (blur.cpp:12)", marked (support/error_text.h).
std::string located_name(const FuncNode &f, size_t stage);
/// The name and location of the whole Func.
std::string located_name(const FuncNode &f);
/// The name of an image, with its location if the user gave it no name: "photo", "buffer$1 (blur.cpp:12)".
std::string located_name(const Image &image);
/// Throws "f.update(0).<directive> (blur.cpp:12): <why>" as CompileError.
[[noreturn]] void reject_directive(const FuncNode &f, size_t stage, const std::string &directive,
                                   const std::string &why);

/// The Funcs that a stage calls, itself excluded, ascending.
std::vector<FuncId> funcs_read(const Stage &stage, FuncId self);

/// Computes producers and consumers from the definitions; none for Funcs for which `counts` is
/// false (inlined).
void connect(Graph &graph, const std::function<bool(const FuncNode &)> &counts);

/// Throws InternalError if an invariant above is violated.
void verify(const Graph &graph);
std::string to_string(const Graph &graph);

/// Substitutes into its consumers every Func that the schedule inlines and that can be inlined:
/// pure, not an output, not read as a whole by an extern stage. Inlined Funcs stay in `funcs` (ids
/// do not change), without consumers. A Func that cannot be inlined is unchanged; lowering computes
/// it at the innermost loop that encloses all its uses.
Graph inline_funcs(const Graph &graph, const schedules::Schedule &schedule);

/// Makes the float operations on which coordinates of a definition depend strict, so that the
/// computed bounds of these coordinates hold. (Part of inline_funcs, because inlined values may
/// become part of coordinates.)
void make_coordinates_strict(Stage &stage);

}  // namespace Pipe::graph
