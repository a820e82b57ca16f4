#pragma once
// Finding and replacing free variables. All walks visit a shared node once.

#include <map>
#include <set>
#include <string>

#include "ir/expr_node.h"
#include "ir/stmt_node.h"

namespace Pipe::ir {

/// Replaces the free variable `name` by `value`. If a Let or For inside binds the name again, its
/// body is left unchanged. A binding inside that would capture a free variable of `value` is
/// renamed first.
Expr substitute(const std::string &name, const Expr &value, const Expr &e);
Stmt substitute(const std::string &name, const Expr &value, const Stmt &s);

/// Replaces all simultaneously: the values are not substituted into.
Expr substitute(const std::map<std::string, Expr> &values, const Expr &e);
Stmt substitute(const std::map<std::string, Expr> &values, const Stmt &s);

/// Whether the variable is free in e.
bool uses_var(const Expr &e, const std::string &name);
bool uses_var(const Stmt &s, const std::string &name);
/// Whether any of the variables is free in e.
bool uses_any_var(const Expr &e, const std::set<std::string> &names);
bool uses_any_var(const Stmt &s, const std::set<std::string> &names);

/// The names of all variables that are free in it.
std::set<std::string> free_vars(const Expr &e);
std::set<std::string> free_vars(const Stmt &s);

}  // namespace Pipe::ir
