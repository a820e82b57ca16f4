#pragma once
// Recognizes associative updates, which can be factored.

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "graph/graph.h"

namespace Pipe::graph {

/// Whether a node is a call of the Func that owns the stage. (Such calls are represented
/// differently before and after freezing.)
using IsSelf = std::function<bool(const ir::ExprNode &)>;
IsSelf calls_of(FuncId id);

/// A stage of the form f(args) = f(args) (op) g, where op is associative and has an identity.
struct Reduction {
    std::vector<Expr> identity;  ///< one per value
    bool commutative = true;     ///< false: the order decides which of two equal values is kept
    /// The points may be divided in any way, those of each part in order: it is commutative, or the values tell which of two equal
    /// ones came first (argmin).
    bool any_parts = true;
    /// The later of two equal values replaces the earlier one, including the identity: results of
    /// empty parts must not be combined.
    bool needs_points = false;
    bool exact = true;  ///< false: floating-point sums and products, which round
    /// Combines the values of some points with those of points that come later.
    std::function<std::vector<Expr>(const std::vector<Expr> &, const std::vector<Expr> &)> combine;
};

/// Recognizes + - * min max && || & | ^, select() as minimum or maximum (also of a Tuple with
/// further values: argmin), the product of complex numbers, and Tuples of independent ones. If the
/// result is empty, *why gives the reason.
std::optional<Reduction> as_reduction(const FuncNode &func, size_t stage, std::string *why);
/// The same of a stage alone: what was there before it is not known.
std::optional<Reduction> as_reduction(const Stage &stage, const IsSelf &is_self, std::string *why);

/// Whether the first update may take the values of the pure definition instead of stored ones: they are a formula
/// without Funcs, and the update changes every element by itself.
bool starts_from_formula(const FuncNode &func);

}  // namespace Pipe::graph
