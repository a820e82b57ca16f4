#include <pipe/print.h>

#include "ir/intrinsics.h"
#include "ir/print.h"
#include "language/match.h"

namespace Pipe {
namespace {

/// Args: the condition, followed by the values.
Expr effect(const char *name, const Expr &condition, const std::vector<Expr> &values) {
    language::require_defined(name, condition);
    if (!condition.type().is_bool())
        language::reject(name, condition,
                         "the condition must be bool. Compare with 0, as in x != 0.");
    if (values.empty())
        throw CompileError(std::string(name) + language::nearby() +
                           " needs at least one value, which is its result.");
    for (const Expr &value : values)
        language::require_defined(name, value);
    if (values[0].type().is_handle())
        language::reject(
            name, values[0],
            "the first value must be a number, because it is the result. Put text after it.");
    std::vector<Expr> args{condition};
    args.insert(args.end(), values.begin(), values.end());
    return ir::make_call(values[0].type(), name, args, ir::CallKind::Extern);
}

}  // namespace

Expr detail::text(const std::string &value) {
    return ir::make_string(value);
}

Expr print(const std::vector<Expr> &values) {
    return effect(ir::extern_function::print, Expr(true), values);
}
Expr print_when(const Expr &condition, const std::vector<Expr> &values) {
    return effect(ir::extern_function::print, condition, values);
}

Expr require(const Expr &condition, const std::vector<Expr> &values) {
    language::require_defined(ir::extern_function::require, condition);
    std::vector<Expr> all = values;
    if (!values.empty())
        all.push_back(ir::make_string("(required: " + ir::shortened(condition) + ")"));
    return effect(ir::extern_function::require, condition, all);
}

}  // namespace Pipe
