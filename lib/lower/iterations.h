#pragma once
// Upper bounds of the number of iterations of loops.

#include <cstdint>
#include <optional>
#include <utility>

#include "ir/scope.h"
#include "ir/stmt_node.h"

namespace Pipe::lower {

/// The lets around a loop, with their values and nesting.
class LetsAround {
  public:
    /// f(), inside of the let.
    template <typename F> ir::Stmt inside(const ir::Stmt &let, F &&f) {
        ir::ScopedBinding binding(lets_, let->name, std::pair(let->value(), depth_++));
        ir::Stmt result = f();
        depth_--;
        return result;
    }

    /// The smallest known constant upper bound of the extent for all values of the other variables:
    /// for min(n, x*8 + 8) - x*8, it is 8.
    std::optional<int64_t> most_iterations(const Expr &extent) const;

  private:
    ir::Scope<std::pair<Expr, int>> lets_;
    int depth_ = 0;
};

}  // namespace Pipe::lower
