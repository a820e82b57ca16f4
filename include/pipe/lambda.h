#pragma once
// Unnamed Funcs, and immediate evaluation of Exprs.

#include <cstring>

#include <pipe/func.h>

namespace Pipe {

/// Returns a Func that computes `value`. Its dimensions are the given Vars, followed by the
/// implicit Vars of `value` (or with these in the place of `_`).
Func lambda(const Expr &value);
Func lambda(const Var &x, const Expr &value);
Func lambda(const Var &x, const Var &y, const Expr &value);
Func lambda(const Var &x, const Var &y, const Var &z, const Expr &value);
Func lambda(const Var &x, const Var &y, const Var &z, const Var &w, const Expr &value);
Func lambda(const Var &x, const Var &y, const Var &z, const Var &w, const Var &v,
            const Expr &value);

namespace detail {
/// Computes the values, which contain no Vars. CompileError if the type of a value differs from its
/// declared type.
Realization evaluate(const std::vector<Expr> &values, const std::vector<Type> &types,
                     JITUserContext *context);

template <typename T> void take_element(const Realization &values, size_t i, T &to) {
    to = Buffer<T>(values[i])();
}
}  // namespace detail

/// Compiles and evaluates an expression without Vars. CompileError if its type is not T. The
/// context (pipe/jit.h) may be null.
template <typename T> T evaluate(JITUserContext *context, const Expr &value) {
    T result;
    detail::take_element(detail::evaluate({value}, {type_of<T>()}, context), 0, result);
    return result;
}
template <typename T> T evaluate(const Expr &value) {
    return evaluate<T>(nullptr, value);
}
/// The same for a Tuple, with one variable per element.
template <typename First, typename... Rest>
void evaluate(JITUserContext *context, const Tuple &values, First &first, Rest &...rest) {
    Realization done =
        detail::evaluate(values.as_vector(), {type_of<First>(), type_of<Rest>()...}, context);
    size_t i = 0;
    detail::take_element(done, i++, first);
    (detail::take_element(done, i++, rest), ...);
}
template <typename First, typename... Rest>
void evaluate(const Tuple &values, First &first, Rest &...rest) {
    evaluate(nullptr, values, first, rest...);
}
/// The same with the addresses of the variables.
template <typename First, typename... Rest>
void evaluate(JITUserContext *context, const Tuple &values, First *first, Rest *...rest) {
    evaluate(context, values, *first, *rest...);
}
template <typename First, typename... Rest>
void evaluate(const Tuple &values, First *first, Rest *...rest) {
    evaluate(nullptr, values, *first, *rest...);
}
/// The same as evaluate(): expressions are evaluated on the host.
template <typename T> T evaluate_may_gpu(const Expr &value) {
    return evaluate<T>(value);
}
template <typename First, typename... Rest>
void evaluate_may_gpu(const Tuple &values, First &&first, Rest &&...rest) {
    evaluate(values, first, rest...);
}

}  // namespace Pipe
