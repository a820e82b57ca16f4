#pragma once
// The front end's conversion rules for operands of different types, and errors about them.

#include <string>
#include <vector>

#include "ir/expr_node.h"
#include "support/error_text.h"

namespace Pipe::language {

/// "'x + 1' (int32)"
std::string describe(const Expr &e);

using support::nearby;
using support::passed;

/// CompileError if an operand is undefined.
void require_defined(const char *op, const Expr &a);
void require_defined(const char *op, const Expr &a, const Expr &b);

/// "Operator + cannot take 'x' (int32) and 'y' (bool): " + why
[[noreturn]] void reject(const char *op, const Expr &a, const std::string &why);
[[noreturn]] void reject(const char *op, const Expr &a, const Expr &b, const std::string &why);

/// A call of an intrinsic of ir/intrinsics.h.
Expr intrinsic_call(const char *name, Type type, std::vector<Expr> args);

/// CompileError if a type given by the user has lanes: all values are scalars in the front end.
void require_scalar(const std::string &what, Type type);

/// Casts both to the common type; see <pipe/operators.h>.
void match_types(const char *op, Expr &a, Expr &b);

/// An integer constant is converted to the type of the other operand; CompileError if it does not
/// fit.
void adapt_constants(const char *op, Expr &a, Expr &b);

/// Whether `e` is an integer constant that the type represents exactly.
bool holds_integer(Type type, const Expr &e);

/// `e` in a type that represents every value of its own type, or a constant that the type
/// represents; else an undefined Expr.
Expr lossless_cast(Type type, const Expr &e);

/// A number given to a directive, as int32: a constant that fits, or a value of int32 or of a type
/// whose values all fit. For others, *why describes the problem: "... is of type uint32; cast it".
Expr directive_number(const Expr &e, std::string *why);

}  // namespace Pipe::language
