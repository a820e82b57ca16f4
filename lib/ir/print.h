#pragma once
// The IR as text, for people: error messages, dumps and golden files.

#include <iosfwd>
#include <string>

#include "ir/expr_node.h"
#include "ir/stmt_node.h"

namespace Pipe::ir {

/// Infix, with no more parentheses than the shape of the tree needs. Constants that are not int32,
/// float or bool carry their type as a cast does: "uint8(3)". An expression whose text would exceed
/// a megabyte (a graph with much sharing) is cut off with "...".
std::string to_string(const Expr &e);

/// One statement per line, bodies indented by two spaces; ends in a newline unless s is undefined.
std::string to_string(const Stmt &s);

std::ostream &operator<<(std::ostream &out, const Expr &e);
std::ostream &operator<<(std::ostream &out, const Stmt &s);

/// "+", "<=", "min", "select": how the printer writes an operation.
const char *to_string(Op op);
/// "parallel", ...; empty for serial loops.
const char *to_string(LoopKind kind);

}  // namespace Pipe::ir

namespace Pipe {
using ir::operator<<;  // where argument-dependent lookup starts from Expr
}
