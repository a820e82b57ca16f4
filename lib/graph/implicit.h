#pragma once
// The placeholder `_` among coordinates, and the implicit Vars that it stands for.

#include <string>
#include <vector>

#include "graph/contents.h"

namespace Pipe::graph {

bool has_placeholder(const std::vector<Expr> &args);

/// One more than the greatest n for which the values name the implicit Var _n.
int count_implicit(const std::vector<Expr> &values);

/// `args` with _0, _1, ... (`count` of them) in place of `_`. CompileError, naming `what`, where
/// `_` stands twice.
std::vector<Expr> expand_placeholder(const std::string &what, const std::vector<Expr> &args,
                                     int count, SourceLocation where);

/// For a call of something with `dimensions`: `_` stands for what is missing.
std::vector<Expr> expand_to(const std::string &what, const std::vector<Expr> &args, int dimensions,
                            SourceLocation where);

}  // namespace Pipe::graph
