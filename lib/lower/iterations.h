#pragma once
// How many iterations a loop can have.

#include <cstdint>
#include <optional>
#include <utility>

#include "ir/scope.h"
#include "ir/stmt_node.h"

namespace Pipe::lower {

/// The lets around a loop: their values, and how many stand around each.
class LetsAround {
  public:
    /// f(), inside of the let.
    template <typename F> ir::Stmt inside(const ir::Stmt &let, F &&f) {
        ir::ScopedBinding binding(lets_, let->name, std::pair(let->exprs[0], depth_++));
        ir::Stmt result = f();
        depth_--;
        return result;
    }

    /// The smallest constant that is known to be at least the extent, whatever the values of the other
    /// variables: of min(n, x*8 + 8) - x*8 it is 8.
    std::optional<int64_t> most_iterations(const Expr &extent) const;

  private:
    ir::Scope<std::pair<Expr, int>> lets_;
    int depth_ = 0;
};

}  // namespace Pipe::lower
