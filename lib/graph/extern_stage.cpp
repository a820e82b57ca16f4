#include "graph/extern_stage.h"

#include <fmt/format.h>

#include "ir/intrinsics.h"
#include "support/error_text.h"

namespace Pipe::graph {

const ir::ExprNode *extern_definition(const Stage &stage) {
    if (stage.values.empty())
        return nullptr;
    const Expr &e = stage.values[0];
    bool is_it = e->op == ir::Op::Call && e->call_kind == ir::CallKind::Extern &&
                 e->name == ir::extern_function::extern_definition;
    return is_it ? e.get() : nullptr;
}

std::vector<Expr> extern_args(const ir::ExprNode &definition) {
    return {definition.args.begin() + 1, definition.args.end()};
}

std::vector<bool> read_as_whole(const Graph &graph) {
    std::vector<bool> result(graph.funcs.size());
    for (const FuncNode &f : graph.funcs)
        if (const ir::ExprNode *definition = extern_definition(f.stages[0]))
            for (const Expr &arg : extern_args(*definition))
                if (is_whole(*arg) && arg->call_kind == ir::CallKind::Func)
                    result[static_cast<size_t>(arg->int_value)] = true;
    return result;
}

Expr call_extern_stage(const FuncNode &func, std::vector<Expr> args) {
    const std::string &function = extern_definition(func.stages[0])->args[0]->name;
    std::string text = fmt::format("Extern stage {}{}: the C function '{}'", func.name,
                                   support::at(func.stages[0].where), function);
    args.insert(args.begin(), {ir::make_string(function), ir::make_string(text)});
    return ir::make_call(Int(32), ir::extern_function::extern_stage, std::move(args),
                         ir::CallKind::Extern);
}

}  // namespace Pipe::graph
