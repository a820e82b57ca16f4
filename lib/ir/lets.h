#pragma once
// Bookkeeping of let bindings for the simplifier. (Inside ir/ only.)

#include <unordered_map>

#include "ir/facts.h"
#include "ir/stmt_node.h"

namespace Pipe::ir {

/// The result of one walk over the bindings of a program.
struct LetUses {
    /// How often the name of a Let is used in its body, by address of the node. A use in a shared
    /// expression counts once.
    std::unordered_map<const void *, int> uses;
    bool has_lets = false;
    /// Whether a Let or For shadows another binding.
    bool has_shadowing = false;
};

LetUses count_let_uses(const Expr &e, const Facts &facts);
LetUses count_let_uses(const Stmt &s, const Facts &facts);

/// Renames Lets and loops so that no binding shadows another one, a free variable, or a name in
/// `facts`.
Expr without_shadowing(const Expr &e, const Facts &facts);
Stmt without_shadowing(const Stmt &s, const Facts &facts);

/// Whether evaluating it has an effect besides its value.
bool has_side_effect(const Expr &e);

/// Removes the Lets whose names are not used.
Expr without_dead_lets(const Expr &e);
Stmt without_dead_lets(const Stmt &s);

}  // namespace Pipe::ir
