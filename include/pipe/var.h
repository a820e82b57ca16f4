#pragma once
// Var: a dimension of a Func, and a loop in its schedule.

#include <string>

#include <pipe/expr.h>
#include <pipe/operators.h>

namespace Pipe {

/// A coordinate of a Func (an int32), and the name of loops in schedules. Two Vars of one name are
/// the same Var.
class Var {
  public:
    /// A name of its own.
    Var();
    Var(const std::string &name) : name_(name) {}
    Var(const char *name) : name_(name) {}

    const std::string &name() const { return name_; }
    bool same_as(const Var &other) const { return name_ == other.name_; }
    operator Expr() const;

  private:
    std::string name_;
};

}  // namespace Pipe
