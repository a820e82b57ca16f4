#pragma once
// The fraction of an RDom that its condition selects.

#include <vector>

#include "ir/expr_node.h"
#include "poly/model.h"

namespace Pipe::autoschedule {

/// The fraction of the points of `iterators` for which the condition is true: exact if they are
/// few, else estimated from evenly spread points. 1 if it is unknown: no condition, one that reads
/// memory or contains unknown sizes, iterators without bounds.
double fraction_where(const Expr &condition, const std::vector<poly::Iterator> &iterators,
                      const poly::Environment &names);

}  // namespace Pipe::autoschedule
