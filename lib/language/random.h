#pragma once
// random_uint() etc. are converted to arithmetic when they become part of a definition.

#include <string>
#include <vector>

#include "ir/expr_node.h"

namespace Pipe::language {

/// `e` with each random number replaced by a hash of its seed, `salt` and the coordinates.
class RandomNumbers {
  public:
    /// `salt`: distinguishes definitions; `coordinates`: names of int32 variables.
    RandomNumbers(const std::string &salt, std::vector<std::string> coordinates)
        : salt_(salt), coordinates_(std::move(coordinates)) {}
    Expr expand(const Expr &e) const;

  private:
    std::string salt_;
    std::vector<std::string> coordinates_;
};

}  // namespace Pipe::language
