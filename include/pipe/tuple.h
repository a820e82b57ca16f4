#pragma once
// Tuple: several values of one Func.

#include <initializer_list>
#include <vector>

#include <pipe/expr.h>

namespace Pipe {

/// The values of a Func that has more than one: `f(x) = Tuple(a, b)`, `f(x)[1]`.
class Tuple {
  public:
    explicit Tuple(std::vector<Expr> values) : values_(std::move(values)) {}
    template <typename... Rest>
    Tuple(const Expr &first, const Expr &second, const Rest &...rest)
        : values_{first, second, Expr(rest)...} {}

    size_t size() const { return values_.size(); }
    Expr &operator[](size_t i) { return values_.at(i); }
    const Expr &operator[](size_t i) const { return values_.at(i); }
    const std::vector<Expr> &as_vector() const { return values_; }

  private:
    std::vector<Expr> values_;
};

}  // namespace Pipe
