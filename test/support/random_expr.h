#pragma once
// Random expressions of every type, and values for their variables.

#include <random>

#include "support/evaluate.h"

namespace test {

class RandomExpr {
  public:
    explicit RandomExpr(uint64_t seed) : random_(seed) {}

    /// Of the type; its variables are among those of values().
    Pipe::Expr make(Pipe::Type type, int depth);
    /// Values for all variables that make() can use: small ones for indices, any for what is_param.
    Environment values();

    int below(int n) { return static_cast<int>(random_() % static_cast<uint64_t>(n)); }
    Pipe::Type scalar_type();

  private:
    Pipe::Expr leaf(Pipe::Type type);
    Pipe::Expr boolean(Pipe::Type type, int depth);
    Pipe::Expr vector(Pipe::Type type, int depth);
    int64_t integer(Pipe::Type type);
    int64_t far_integer(Pipe::Type type);
    Pipe::Expr perhaps_far(Pipe::Type type, int depth);
    int64_t any_integer(Pipe::Type type);
    /// One of those of <pipe/fixed_point.h>.
    Pipe::Expr integer_operation(Pipe::Type type, int depth);

    std::mt19937_64 random_;
    int next_let_ = 0;
    std::vector<std::pair<std::string, Pipe::Type>> lets_;
};

}  // namespace test
