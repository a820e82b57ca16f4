#pragma once
// Reads what ir/print.h prints, so that the tests of passes are text in, text out.

#include <map>
#include <stdexcept>
#include <string>

#include "ir/expr_node.h"
#include "ir/stmt_node.h"

namespace Pipe::testing {

/// The text is not what ir::to_string prints; the message has the line.
struct ParseError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// What the text does not say: the types of free variables, of the elements of buffers that it does not allocate,
/// and of Funcs and images that it calls. What is missing is int32; an index of a stride ("in.stride.1") int64.
using Types = std::map<std::string, Type>;

/// The program whose printed form is `text`: printing the result gives the same text. A difference `a - 1` is read in
/// the simplifier's form a + -1, the codes of asserts are 0, and a call with coordinates is one of a Func.
ir::Stmt parse_stmt(const std::string &text, const Types &types = {});
Expr parse_expr(const std::string &text, const Types &types = {});

}  // namespace Pipe::testing
