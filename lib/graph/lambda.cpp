#include <pipe/lambda.h>

#include "graph/contents.h"

namespace Pipe {
namespace {

Func make(std::vector<Expr> vars, const Expr &value) {
    Func f(graph::fresh_name("lambda"));
    vars.push_back(_);
    f(vars) = value;
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
