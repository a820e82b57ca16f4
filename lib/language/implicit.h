#pragma once
// The placeholder `_` among coordinates, and the implicit Vars for which it stands.

#include <string>
#include <vector>

#include "language/contents.h"

namespace Pipe::language {

bool has_placeholder(const std::vector<Expr> &args);

/// One more than the largest n such that the values contain the implicit Var _n.
int count_implicit(const std::vector<Expr> &values);

/// `args` with `_` replaced by _0, _1, ... (`count` of them). CompileError, naming `what`, if `_`
/// occurs twice.
std::vector<Expr> expand_placeholder(const std::string &what, const std::vector<Expr> &args,
                                     int count, SourceLocation where);

/// For a call of an object with `dimensions`: `_` stands for the missing coordinates.
std::vector<Expr> expand_to(const std::string &what, const std::vector<Expr> &args, int dimensions,
                            SourceLocation where);

}  // namespace Pipe::language
