#pragma once
// Update definitions that combine: which of them may be taken apart.

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "graph/graph.h"

namespace Pipe::graph {

/// Whether a node is a call of the Func whose stage is looked at. (Its calls look different before
/// and after freezing.)
using IsSelf = std::function<bool(const ir::ExprNode &)>;
IsSelf calls_of(FuncId id);

/// A stage of the form f(args) = f(args) (op) g, where op is associative and has an identity.
struct Reduction {
    std::vector<Expr> identity;  ///< one per value
    bool commutative = true;     ///< false: which of two equal ones stays depends on the order
    /// The later of two equal ones takes the earlier one's place, the identity's included: the values of no
    /// points at all must not be combined.
    bool needs_points = false;
    bool exact = true;  ///< false: sums and products of floats, which round
    /// Combines the values of some points with those of points that come after them.
    std::function<std::vector<Expr>(const std::vector<Expr> &, const std::vector<Expr> &)> combine;
};

/// Knows + - * min max && || & | ^, select() as minimum or maximum (also of a Tuple that carries
/// more along: argmin), the product of complex numbers, and Tuples of independent ones. Where it
/// answers nothing, *why says what stands in the way.
std::optional<Reduction> as_reduction(const Stage &stage, const IsSelf &is_self, std::string *why);

}  // namespace Pipe::graph
