#pragma once
// Tuple: several values of one Func.

#include <concepts>
#include <initializer_list>
#include <vector>

#include <pipe/expr.h>
#include <pipe/operators.h>

namespace Pipe {

/// The values of a Func that has more than one: `f(x) = Tuple(a, b)`, `f(x)[1]`.
class Tuple {
  public:
    explicit Tuple(std::vector<Expr> values) : values_(std::move(values)) {}
    template <std::convertible_to<Expr> Only>
    requires(!requires(const Only &only) { only.size(); }) explicit Tuple(const Only &value)
        : values_{Expr(value)} {}
    template <typename... Rest>
    Tuple(const Expr &first, const Expr &second, const Rest &...rest)
        : values_{first, second, Expr(rest)...} {}

    operator Expr() const = delete;  // a Tuple has several values: take one, as in t[0]

    size_t size() const { return values_.size(); }
    /// CompileError if `i` is out of range.
    Expr &operator[](size_t i) { return values_[checked(i)]; }
    const Expr &operator[](size_t i) const { return values_[checked(i)]; }
    const std::vector<Expr> &as_vector() const { return values_; }

  private:
    std::vector<Expr> values_;

    size_t checked(size_t i) const {
        if (i >= values_.size())
            throw CompileError("Index " + std::to_string(i) + " is out of range: the Tuple has " +
                               std::to_string(values_.size()) + " values.");
        return i;
    }
};

/// Element-wise; a Tuple of conditions selects each element separately. CompileError if the sizes
/// differ.
Tuple select(const Expr &condition, const Tuple &if_true, const Tuple &if_false);
Tuple select(const Tuple &condition, const Tuple &if_true, const Tuple &if_false);
/// select(c0, v0, c1, v1, ..., otherwise): the values of the first condition that holds.
template <typename... Rest>
requires(sizeof...(Rest) >= 1) Tuple
    select(const Expr &c0, const Tuple &v0, const Expr &c1, const Tuple &v1, const Rest &...rest) {
    return select(c0, v0, select(c1, v1, rest...));
}
template <typename... Rest>
requires(sizeof...(Rest) >= 1) Tuple select(const Tuple &c0, const Tuple &v0, const Tuple &c1,
                                            const Tuple &v1, const Rest &...rest) {
    return select(c0, v0, select(c1, v1, rest...));
}

/// values[id]; the last value if id is out of range. All values have one type; integer constants
/// take that of the others.
Expr mux(const Expr &id, const std::vector<Expr> &values);
Expr mux(const Expr &id, std::initializer_list<Expr> values);
Expr mux(const Expr &id, const Tuple &values);
Tuple mux(const Expr &id, const std::vector<Tuple> &values);
Tuple mux(const Expr &id, std::initializer_list<Tuple> values);

}  // namespace Pipe
