#pragma once
// Exprs that print, and run-time checks in Exprs.

#include <string>
#include <type_traits>
#include <vector>

#include <pipe/operators.h>

namespace Pipe {

namespace detail {
Expr text(const std::string &value);

template <typename T> Expr printable(const T &value) {
    if constexpr (std::is_convertible_v<const T &, std::string>)
        return text(value);
    else
        return Expr(value);
}
}  // namespace detail

/// The first value. Whenever it is evaluated, all values (numbers and string literals) are printed
/// on one line, separated by spaces, to stdout or by the handler custom_print.
Expr print(const std::vector<Expr> &values);
template <typename... More> Expr print(const Expr &first, const More &...more) {
    return print(std::vector<Expr>{first, detail::printable(more)...});
}

/// The same, if `condition` holds.
Expr print_when(const Expr &condition, const std::vector<Expr> &values);
template <typename... More>
Expr print_when(const Expr &condition, const Expr &first, const More &...more) {
    return print_when(condition, std::vector<Expr>{first, detail::printable(more)...});
}

/// The first value. If `condition` does not hold when it is evaluated, `realize` throws a
/// RuntimeError with the condition and all values as print() would. Evaluated one lane at a time.
Expr require(const Expr &condition, const std::vector<Expr> &values);
template <typename... More>
Expr require(const Expr &condition, const Expr &value, const More &...more) {
    return require(condition, std::vector<Expr>{value, detail::printable(more)...});
}

}  // namespace Pipe
