#pragma once
// Rewrites expressions and loop nests to simpler ones of the same meaning.
//
//  * int32 and int64 sums are brought to linear normal form (linear.h), so that what is equal looks
//    equal and differences cancel. Overflow of these types is taken not to happen.
//  * All other types keep their exact semantics: 8 and 16 bit and unsigned integers wrap, floats
//    are never reassociated.
//  * Near-linear in the number of nodes; shared nodes are rewritten once.

#include "ir/facts.h"
#include "ir/stmt_node.h"

namespace Pipe::ir {

/// Simplifies under the facts, which speak about the free variables of `e`.
Expr simplify(const Expr &e, const Facts &facts = {});

/// Also: substitutes lets of constants, variables and small sums of variables; drops dead lets,
/// empty loops and branches never taken; opens loops of extent 1; merges nested ifs; uses what
/// loops, lets and ifs tell about variables. Undefined if nothing is left to do.
Stmt simplify(const Stmt &s, const Facts &facts = {});

/// True if the condition (bool, all lanes) holds wherever the facts hold. False means "not proven".
bool can_prove(const Expr &condition, const Facts &facts = {});

}  // namespace Pipe::ir
