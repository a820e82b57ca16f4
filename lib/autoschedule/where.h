#pragma once
// The part of an RDom that its condition leaves.

#include <vector>

#include "ir/expr_node.h"
#include "poly/model.h"

namespace Pipe::autoschedule {

/// The fraction of the points of `iterators` for which the condition holds: exact where they are few, else of
/// points spread evenly over them. 1 where that cannot be known: no condition, one that reads memory or names
/// unknown sizes, iterators without bounds.
double fraction_where(const Expr &condition, const std::vector<poly::Iterator> &iterators,
                      const poly::Environment &names);

}  // namespace Pipe::autoschedule
