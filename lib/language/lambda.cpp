#include <pipe/lambda.h>

#include <algorithm>

#include "language/contents.h"

namespace Pipe {
namespace {

/// The implicit Vars of the value replace the placeholder, or else follow all other Vars.
Func make(const std::vector<Var> &vars, const Expr &value) {
    std::vector<Expr> args(vars.begin(), vars.end());
    if (std::none_of(vars.begin(), vars.end(), [](const Var &v) { return v.is_placeholder(); }))
        args.push_back(_);
    Func f(language::undefined_func(language::Identity::unnamed("lambda"), {}));
    f(args) = value;
    return f;
}

}  // namespace

Func lambda(const Expr &value) {
    return make({}, value);
}
Func lambda(const Var &x, const Expr &value) {
    return make({x}, value);
}
Func lambda(const Var &x, const Var &y, const Expr &value) {
    return make({x, y}, value);
}
Func lambda(const Var &x, const Var &y, const Var &z, const Expr &value) {
    return make({x, y, z}, value);
}
Func lambda(const Var &x, const Var &y, const Var &z, const Var &w, const Expr &value) {
    return make({x, y, z, w}, value);
}
Func lambda(const Var &x, const Var &y, const Var &z, const Var &w, const Var &v,
            const Expr &value) {
    return make({x, y, z, w, v}, value);
}

}  // namespace Pipe
