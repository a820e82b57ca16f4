#include <fmt/format.h>

#include "ir/extern_functions.h"
#include "language/match.h"
#include <pipe/extern.h>

namespace Pipe::detail {

Expr extern_call(const ExternFunction &function, bool pure, const std::vector<Expr> &args) {
    std::vector<Expr> matched;
    for (size_t i = 0; i < args.size(); i++) {
        language::require_defined(function.name, args[i]);
        Expr arg = language::lossless_cast(function.parameters[i], args[i]);
        if (!arg.defined())
            throw CompileError(fmt::format("Argument {} of the C function '{}'{} is {}, but it "
                                           "takes {}. Cast it.",
                                           i + 1, function.name, language::nearby(),
                                           language::describe(args[i]),
                                           to_string(function.parameters[i])));
        matched.push_back(arg);
    }
    ir::register_extern(function);
    return ir::make_call(function.result, function.name, matched,
                         pure ? ir::CallKind::PureExtern : ir::CallKind::Extern,
                         ir::users_function);
}

}  // namespace Pipe::detail
