#pragma once
// Copies of arrays whose elements have gaps between them: row by row, so that what lies between is left alone.

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "jit/runtime/gpu/device.h"

namespace Pipe::runtime {

/// One dimension of an array, in bytes.
struct Step {
    int64_t extent = 1, stride = 0;
};

/// The dimensions of a shape (BufferDim, or BufferArgument::Dimension: strides count elements).
template <typename Dimension>
std::vector<Step> steps_of(const Dimension *dims, size_t n, int64_t element_bytes) {
    std::vector<Step> steps;
    for (size_t d = 0; d < n; d++)
        steps.push_back({dims[d].extent, dims[d].stride * element_bytes});
    return steps;
}

/// An array as rows: what is contiguous, and the dimensions around it.
struct RowPlan {
    int64_t low = 0;  ///< bytes from the element at the minimum of all coordinates to the lowest
    int64_t row_bytes = 0;     ///< 0: there is no element
    std::vector<Step> around;  ///< strides are positive, and grow
};
/// \param gap  most bytes between elements that count as a part of the row
RowPlan plan_rows(std::vector<Step> steps, int64_t element_bytes, int64_t gap = 0);

/// Calls copy(offset, rows) for all elements; `offset`: bytes from the element at the minimum of all
/// coordinates.
template <typename Copy> void for_each_rows(const RowPlan &plan, const Copy &copy) {
    if (plan.row_bytes == 0)
        return;
    Rows rows{plan.row_bytes, 1, 0};
    size_t first = 0;
    if (!plan.around.empty()) {
        rows.count = plan.around[0].extent;
        rows.pitch = plan.around[0].stride;
        first = 1;
    }
    std::vector<int64_t> at(plan.around.size(), 0);
    while (true) {
        int64_t offset = plan.low;
        for (size_t d = first; d < at.size(); d++)
            offset += at[d] * plan.around[d].stride;
        copy(offset, rows);
        size_t d = first;
        while (d < at.size() && ++at[d] == plan.around[d].extent)
            at[d++] = 0;
        if (d >= at.size())
            return;
    }
}

}  // namespace Pipe::runtime
