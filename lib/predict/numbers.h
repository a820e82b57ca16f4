#pragma once
// Numbers: evaluates integer expressions of a lowered program to Forms.

#include <string>
#include <unordered_map>

#include "ir/expr_node.h"
#include "ir/scope.h"
#include "predict/form.h"

namespace Pipe::predict {

class Numbers {
  public:
    void bind(const std::string &name, Form form);
    void unbind(const std::string &name);
    const Form *find(const std::string &name) const { return bound_.find(name); }

    /// Of any expression of numbers; a variable that is not bound, and what is computed from elements of
    /// buffers, is unknown.
    Form of(const Expr &e);
    /// The share of the iterations in which a condition holds.
    double chance(const Expr &condition) { return of(condition).mean; }

  private:
    Form evaluate(const ir::ExprNode &e);
    Form binary(const ir::ExprNode &e);
    Form call(const ir::ExprNode &e);
    Form intrinsic(const ir::ExprNode &e);
    Form let(const ir::ExprNode &e);
    Form reduction(const ir::ExprNode &e);
    Form in_lane(const Expr &e, int lane);

    ir::Scope<Form> bound_;
    int lane_ = 0;  ///< whose value is evaluated
    /// Of nodes with several parents, which it keeps alive; valid until a name is bound anew.
    std::unordered_map<const ir::ExprNode *, std::pair<Expr, Form>> shared_;
};

}  // namespace Pipe::predict
