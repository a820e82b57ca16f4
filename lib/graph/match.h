#pragma once
// The front end's rules for operands of different types, and the errors that name them.

#include <string>
#include <vector>

#include "ir/expr_node.h"

namespace Pipe::graph {

/// "x + f(x, y)", shortened where it is long.
std::string shortened(const Expr &e);

/// "'x + 1' (int32)"
std::string describe(const Expr &e);

/// Expressions know no line of their own. Whatever does (a Func, a call of it, an RDom) calls
/// passed(), so that an error in an expression can say after which line it came:
/// " (at or after blur.cpp:12)", "" where nothing of this thread was seen yet.
void passed(SourceLocation where);
std::string nearby();

/// CompileError where one of them is undefined.
void require_defined(const char *op, const Expr &a);
void require_defined(const char *op, const Expr &a, const Expr &b);

/// "Operator + cannot take 'x' (int32) and 'y' (bool): " + why
[[noreturn]] void reject(const char *op, const Expr &a, const std::string &why);
[[noreturn]] void reject(const char *op, const Expr &a, const Expr &b, const std::string &why);

/// A call of an intrinsic of ir/intrinsics.h.
Expr intrinsic_call(const char *name, Type type, std::vector<Expr> args);

/// CompileError where a type named in a program has lanes: there, all values are scalars.
void require_scalar(const std::string &what, Type type);

/// Casts both to the common type; see <pipe/operators.h>.
void match_types(const char *op, Expr &a, Expr &b);

/// An integer constant takes the type of the other operand; CompileError where it does not fit.
void adapt_constants(const char *op, Expr &a, Expr &b);

/// Whether `e` is an integer constant that the type holds without rounding.
bool holds_integer(Type type, const Expr &e);

/// `e` in a type that holds every value of its own type, or the constant that it is where the type holds
/// that; else an undefined Expr.
Expr lossless_cast(Type type, const Expr &e);

/// A number given to a directive, as int32: a constant that int32 holds, or a value of int32 or of a type
/// all of whose values it holds. Of others, *why says what to do: "... is of type uint32; cast it".
Expr directive_number(const Expr &e, std::string *why);

}  // namespace Pipe::graph
