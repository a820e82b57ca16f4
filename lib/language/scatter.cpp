#include "ir/intrinsics.h"
#include "language/match.h"
#include <pipe/operators.h>

namespace Pipe {
namespace {

Expr several(const char *name, const std::vector<Expr> &given) {
    if (given.empty())
        throw CompileError(std::string(name) + "() needs at least one value.");
    std::vector<Expr> values = given;
    language::require_defined(name, values[0]);
    Type type = values[0].type();
    for (Expr &value : values) {
        language::require_defined(name, value);
        Expr first = values[0];
        language::adapt_constants(name, first, value);
        if (first.type() != values[0].type())  // the first one was the constant
            values[0] = first;
        type = values[0].type();
    }
    for (Expr &value : values) {
        language::adapt_constants(name, value, values[0]);
        if (value.type() != type)
            language::reject(name, values[0], value, "all values must have one type. Cast them.");
    }
    return ir::make_call(type, ir::intrinsic::scatter_gather, values, ir::CallKind::Intrinsic);
}

}  // namespace

Expr scatter(const std::vector<Expr> &values) {
    return several("scatter", values);
}
Expr gather(const std::vector<Expr> &values) {
    return several("gather", values);
}

}  // namespace Pipe
