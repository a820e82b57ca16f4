// evaluate(): an expression as a pipeline of one element.

#include <fmt/format.h>

#include <pipe/lambda.h>
#include <pipe/pipeline.h>

namespace Pipe::detail {

Realization evaluate(const std::vector<Expr> &values, const std::vector<Type> &types,
                     JITUserContext *context) {
    if (values.size() != types.size())
        throw CompileError(fmt::format("evaluate: a Tuple of {} values, but {} variables for them.",
                                       values.size(), types.size()));
    for (size_t i = 0; i < values.size(); i++)
        if (values[i].type() != types[i])
            throw CompileError(fmt::format("evaluate<{}>: the value is of type {}. Cast it, or use "
                                           "that type.",
                                           to_string(types[i]), to_string(values[i].type())));
    Func f("evaluated");
    f() = Tuple(values);
    return f.realize(context);
}

}  // namespace Pipe::detail
