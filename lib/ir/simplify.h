#pragma once
// Rewrites expressions and loop nests to simpler ones of the same meaning.
//
//  * int32 and int64 sums are brought to linear normal form (linear.h), so that equal sums look
//    equal and differences cancel. These types are assumed not to overflow.
//  * All other types keep their exact semantics: 8- and 16-bit and unsigned integers wrap, floats
//    are never reassociated.
//  * The time is near-linear in the number of nodes; shared nodes are rewritten once.

#include "ir/facts.h"
#include "ir/stmt_node.h"

namespace Pipe::ir {

/// Simplifies under the given facts about the free variables of `e`.
Expr simplify(const Expr &e, const Facts &facts = {});

/// Also: substitutes lets of constants, variables and small sums of variables; removes dead lets,
/// empty loops and branches never taken; replaces loops of extent 1 by their body; merges nested
/// ifs; uses the facts implied by loops, lets and ifs. Undefined if nothing is left.
Stmt simplify(const Stmt &s, const Facts &facts = {});

/// The simplest expression for sum / divisor, where the terms of the sum are simplified already: they are not looked
/// at again. `divisor` > 0. Undefined if the numbers of the sum do not fit its type.
Expr simplified_quotient(const Linear &sum, int64_t divisor);

/// True if the condition (bool, all lanes) holds whenever the facts hold. False means "not proven".
bool can_prove(const Expr &condition, const Facts &facts = {});

}  // namespace Pipe::ir
