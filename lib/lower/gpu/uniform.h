#pragma once
// What is known before a kernel starts of expressions inside of it.

#include <functional>
#include <optional>
#include <string>

#include "ir/facts.h"
#include "ir/scope.h"
#include "ir/stmt_node.h"
#include "region/interval.h"

namespace Pipe::lower {

/// The lets and loops around a place in a kernel. What they bind is not known before the kernel starts, but the
/// intervals of what is bound are.
class UniformScope {
  public:
    void learn_let(const std::string &name, const Expr &value);
    void learn_loop(const std::string &name, const Expr &min, const Expr &extent);

    /// Visits the statements inside of `s`, with what s binds entered.
    void inside(const ir::Stmt &s, const std::function<void(const ir::Stmt &)> &visit);

    /// Whether it has one value for the whole kernel, known before it starts.
    bool is_uniform(const Expr &e) const;
    /// The value in terms of what is known before the kernel starts, of loops, and of the variables of blocks and
    /// threads: with the lets that it uses.
    Expr with_lets(const Expr &e) const;
    /// The largest value of an integer, as a constant where there is one, else in terms of what is known before the
    /// kernel starts; nothing where it has no such bound.
    std::optional<Expr> most(const Expr &e) const;

  private:
    struct Bound {
        region::Interval
            interval;  ///< in terms of what is known before; no ends where that is not known
        ir::ConstantInterval constant;
    };
    void learn(const std::string &name, const Bound &bound);
    region::Interval interval(const Expr &e) const;
    ir::ConstantInterval constant(const Expr &e) const;
    /// The largest value, if it is a constant; of min(n, x*8 + 8) - x*8 it is 8.
    std::optional<int64_t> constant_most(const Expr &e) const;

    region::IntervalScope intervals_;
    ir::Facts facts_;
    ir::Scope<std::pair<Expr, int>> lets_;  ///< values, and how many lets are around each
    int depth_ = 0;
};

}  // namespace Pipe::lower
