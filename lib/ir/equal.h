#pragma once
// Structural comparison. Two values are equal when they are built alike: same operations, types,
// names and constants. Referents (what the user's objects are) take part: two Params of one name
// differ.

#include <cstddef>

#include "ir/expr_node.h"
#include "ir/stmt_node.h"

namespace Pipe::ir {

/// A total order of expressions, the same in every run of a program that uses names alone: < 0, 0,
/// > 0. An undefined Expr comes first. Variables and constants come before composed expressions.
/// Shared nodes are compared by address first; pairs of graphs with much sharing take linear time.
int compare(const Expr &a, const Expr &b);

bool equal(const Expr &a, const Expr &b);
bool equal(const Stmt &a, const Stmt &b);

/// Equal expressions have equal hashes. Linear in the number of nodes, however they are shared.
size_t hash(const Expr &e);

/// The hash of a node whose children's hashes are `child(i)`: for tables that number their nodes.
size_t hash_combine(size_t seed, size_t value);
size_t hash_without_children(const Expr &e);
/// Whether two nodes differ in their children at most.
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
