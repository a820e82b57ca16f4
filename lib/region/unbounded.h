#pragma once
// Sums that no constant bounds.

#include "region/upper_bound.h"

namespace Pipe::region {

/// Whether the sum is known to exceed 2^20: some values of its variables, of a fixed sequence that spreads over
/// 28 bits, give such a number. A search for an upper bound, which must then fail or find what is of no use, takes
/// much longer than these evaluations. False where a part depends on data: it may have any value.
bool is_unbounded(const ir::Linear &sum, const Variables &variables);

}  // namespace Pipe::region
