#pragma once
// Structural comparison. Two values are equal if they have the same operations, types, names and
// constants. Referents (the user's objects) are compared, too: two Params with the same name
// differ.

#include <cstddef>

#include "ir/expr_node.h"
#include "ir/stmt_node.h"

namespace Pipe::ir {

/// A total order of expressions, deterministic across runs for expressions without referents: < 0,
/// 0, > 0. An undefined Expr comes first. Variables and constants come before composed expressions.
/// Shared nodes are compared by address first; graphs with much sharing take linear time.
int compare(const Expr &a, const Expr &b);

bool equal(const Expr &a, const Expr &b);
bool equal(const Stmt &a, const Stmt &b);

/// Equal expressions have equal hashes. Linear in the number of distinct nodes.
size_t hash(const Expr &e);

/// The hash of a node whose children have the hashes `child(i)`: for tables that number their
/// nodes.
size_t hash_combine(size_t seed, size_t value);
size_t hash_without_children(const Expr &e);
/// Whether two nodes differ at most in their children.
bool same_head(const Expr &a, const Expr &b);

/// For std::map and std::unordered_map.
struct ExprLess {
    bool operator()(const Expr &a, const Expr &b) const { return compare(a, b) < 0; }
};
struct ExprHash {
    size_t operator()(const Expr &e) const { return hash(e); }
};
struct ExprEqual {
    bool operator()(const Expr &a, const Expr &b) const { return equal(a, b); }
};

}  // namespace Pipe::ir
