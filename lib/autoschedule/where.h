#pragma once
// What the condition of an RDom selects.

#include <vector>

#include "ir/expr_node.h"
#include "poly/model.h"

namespace Pipe::autoschedule {

struct Selected {
    double fraction = 1;  ///< of the points
    /// Per iterator: the work of the parts of its range that have the most, relative to the mean. Of a triangle
    /// nearly 2, of what is the same along the iterator 1.
    std::vector<double> busiest;
};

/// Of the points of `iterators`, those for which the condition is true: exactly if they are few, else
/// estimated from evenly spread points. All of them if it is unknown: no condition, one that reads
/// memory or contains unknown sizes, iterators without bounds.
Selected selected_where(const Expr &condition, const std::vector<poly::Iterator> &iterators,
                        const poly::Environment &names);

}  // namespace Pipe::autoschedule
