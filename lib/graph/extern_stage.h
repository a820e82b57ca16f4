#pragma once
// Extern stages: Funcs whose elements are computed by a C function (Func::define_extern).
//
// In the graph, such a Func has one definition, without loops. Its values are calls of
// extern_function::extern_definition, one per element of its Tuple, all with the same arguments:
// the name of the C function and its arguments. A whole Func or image as an argument is a call of
// it without coordinates, whose type is a handle.

#include "graph/graph.h"

namespace Pipe::graph {

inline bool is_whole(const ir::ExprNode &e) {
    return e.op == ir::Op::Call && e.type.is_handle() &&
           (e.call_kind == ir::CallKind::Func || e.call_kind == ir::CallKind::Image);
}

/// The call that computes all values; null for a stage of expressions.
const ir::ExprNode *extern_definition(const Stage &stage);
inline bool is_extern(const FuncNode &func) {
    return extern_definition(func.stages[0]) != nullptr;
}

/// The arguments of the C function: definition.args without the name.
std::vector<Expr> extern_args(const ir::ExprNode &definition);

/// The Funcs that are read as a whole, per FuncId.
std::vector<bool> read_as_whole(const Graph &graph);

/// Calls the C function: extern_function::extern_stage.
Expr call_extern_stage(const FuncNode &func, std::vector<Expr> args);

}  // namespace Pipe::graph
