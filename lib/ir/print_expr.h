#pragma once
// The printer for expressions. (Internal to ir/; the interface is print.h.)

#include <string>
#include <vector>

#include "ir/expr_node.h"

namespace Pipe::ir {

class ExprPrinter {
  public:
    std::string out;
    /// Sizes of images as users write them: "in.width()" in place of "in.extent.0".
    bool sizes_as_written = false;

    /// A complete expression.
    void root(const Expr &e);
    /// The same as a factor of a product.
    void root_factor(const Expr &e);
    /// In parentheses if its precedence is lower than `outer_precedence`.
    void print(const Expr &e, int outer_precedence = 0);

  private:
    size_t expr_start_ = 0;

    void print_node(const Expr &e);
    void print_infix(const Expr &e);
    void print_constant(const Expr &e);
    void print_integer(Type type, const std::string &digits);
    void print_float(Type type, double value);
    void print_call(const Expr &e);
    void print_load(const Expr &e);
    void print_let_in(const Expr &e);
    void list(const std::string &name, const std::vector<Expr> &args, int lanes = 0);
};

}  // namespace Pipe::ir
