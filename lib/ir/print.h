#pragma once
// The IR as readable text: error messages, dumps and golden files.

#include <iosfwd>
#include <string>

#include "ir/expr_node.h"
#include "ir/stmt_node.h"

namespace Pipe::ir {

/// Infix, with the minimum of parentheses. Constants that are not int32, float or bool are printed
/// with their type, like a cast: "uint8(3)". An expression whose text would exceed a megabyte (a
/// graph with much sharing) is truncated with "...".
std::string to_string(const Expr &e);
/// The same for messages: "x + f(x, y)", with sizes of images as users write them ("in.width()") and
/// "..." in place of what is too long.
std::string shortened(const Expr &e);

/// One statement per line, bodies indented by two spaces; ends in a newline unless s is undefined.
std::string to_string(const Stmt &s);

std::ostream &operator<<(std::ostream &out, const Expr &e);
std::ostream &operator<<(std::ostream &out, const Stmt &s);

/// The printed form of an operation: "+", "<=", "min", "select".
const char *to_string(Op op);
/// "parallel", ...; empty for serial loops.
const char *to_string(LoopKind kind);

}  // namespace Pipe::ir

namespace Pipe {
using ir::operator<<;  // found by argument-dependent lookup from Expr
}
